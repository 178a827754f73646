"""Our versions of the methods of others beside independent ones: evaluations and time."""
