"""What `auto` and `auto-values` are worth, and how their rules were chosen."""
