"""Minima within constraints."""
