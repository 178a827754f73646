"""Run the command: `python -m pursuit.cli`."""

from pursuit.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
