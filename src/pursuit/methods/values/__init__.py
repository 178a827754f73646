"""The method `values`: slopes, curvatures and noise from differences of values."""
