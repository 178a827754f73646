"""Experiments of many runs: the paper's study, studies of your own, and the suites of COCO."""
