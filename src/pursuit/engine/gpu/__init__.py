"""Many runs at once on a GPU: a team of its threads for each."""
