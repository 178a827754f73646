"""Starts the command ``pursuit``; outside the package, since importing that takes a second.

Until then Ctrl-C ends the process at once. Python itself would print a traceback out of whichever module is
being imported.
"""

import signal
import sys


def main() -> int:
    """Import the library, run the command line, and return the exit status."""
    # In the background Ctrl-C is not meant for the command, and ignored.
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pursuit import cli

    try:
        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return cli.main()
    except KeyboardInterrupt:
        # The command has not begun, or has ended already.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
        raise
    finally:
        if interruptible:
            # Nothing is left to be kept.
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
