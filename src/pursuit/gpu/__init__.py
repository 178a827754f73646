"""Compiled code on a GPU: a team of its threads, records in its memory, kernels and the device itself.

Only what is asked to run on a GPU imports these modules: numba-cuda comes with the extra `pursuit[gpu]`.
"""
