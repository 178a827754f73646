"""The edge: how other tools call this library."""
