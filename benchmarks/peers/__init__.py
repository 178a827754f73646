"""Ours beside its peers on the same work: ``python -m benchmarks.peers``."""
