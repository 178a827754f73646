"""`differences`: slopes, curvatures and noise from differences of values."""
