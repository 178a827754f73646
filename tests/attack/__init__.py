"""Attacks on the library: kills, damaged files, load, full disks and dying workers.

``PYTHONPATH=tests python -m attack`` runs them. Each attack is a module with a function
``attack(seed, seconds)`` that returns a `Tally` of what happened; a violation is what must never happen. They
need Linux.
"""
