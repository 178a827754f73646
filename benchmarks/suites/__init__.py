"""What is measured: the solvers, the problems, and what a run gives."""
