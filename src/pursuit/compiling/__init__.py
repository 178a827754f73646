"""What lets one source run everywhere: dispatch by type, the cache of compiled code, vector operations."""
