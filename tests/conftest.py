"""What holds for all tests."""

import signal

from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about this library.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("untimed", untimed)
settings.load_profile("untimed")

# A job that a shell starts in the background ignores Ctrl-C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
