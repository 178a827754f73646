"""The methods of the paper, and adaptive-sarp, one in a file."""
