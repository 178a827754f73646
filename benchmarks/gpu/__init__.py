"""How fast runs are on a GPU: the latency of one, and the throughput of many."""
