"""Rounds of many points: how many of them a target takes, and how well workers are used."""
