"""The paper's pseudo-code, literally, in plain NumPy with explicit matrices: what ours is compared with."""
