"""Calls of all that people call, made at random: valid, nearly valid, and absurd."""
