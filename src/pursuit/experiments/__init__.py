"""Many runs: the study of the paper, studies of your own, and the suites of COCO."""
