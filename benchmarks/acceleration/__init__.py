"""What `adaptive-sarp` is worth, and how its rules were chosen."""
