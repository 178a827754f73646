"""A run: iterations, queries, counts and limits, reasons to stop, checkpoints, and what drives it."""
