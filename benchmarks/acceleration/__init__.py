"""What `auto` is worth, and how its rules were chosen."""
