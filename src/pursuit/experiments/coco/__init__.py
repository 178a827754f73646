"""COCO: run any solver, ours or another, on the suites of `coco-experiment`, and draw data profiles."""

from pursuit.experiments.coco.experiment import Experiment, run_suite
from pursuit.experiments.coco.profiles import Profile, data_profiles, draw_profiles

__all__ = ["Experiment", "Profile", "data_profiles", "draw_profiles", "run_suite"]
