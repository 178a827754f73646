"""Trajectories written down once, to which every later version is held bit for bit."""
