"""What pytest leaves out where an optional package is missing."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("torch") else ["src/pursuit/torch.py"]
