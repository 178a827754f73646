"""Shares of the problems of CUTEst solved, in the sense of Moré and Wild, by our methods and by others."""
