"""What people see of runs: progress, summaries, pictures and comparisons."""
