"""The problems: classical ones, the paper's, those of CUTEst, and some with constraints."""
