"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about this library.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("untimed", untimed)
settings.load_profile("untimed")
