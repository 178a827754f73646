"""COCO: our methods, and anybody else's, on the problems of `coco-experiment`, and what they reach there."""

from pursuit.experiments.coco.experiment import Experiment, run_suite
from pursuit.experiments.coco.profiles import Profile, data_profiles, draw_profiles

__all__ = ["Experiment", "Profile", "data_profiles", "draw_profiles", "run_suite"]
