"""Methods by others, to compare with."""
