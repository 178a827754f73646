"""A small study of two schemes, of which one is told the minimum on a line."""

STUDY = """
title = "Two schemes"
schemes = ["rp", "rp-exact"]
runs = 3
target = 1e-6
cap = 20000

[[problems]]
problem = "exp"
n = 4
L = 10
"""
