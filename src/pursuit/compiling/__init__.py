"""What lets one source run everywhere: dispatch by type, a cache of compiled code, and vector operations."""
