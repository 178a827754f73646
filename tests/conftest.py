"""What holds for all tests."""

import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says more about the machine than about this library.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("untimed", untimed)
settings.load_profile("untimed")

# A job that a shell starts in the background ignores Ctrl-C, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def interpreted_where_marked(request):
    """Do without the compiler where it would only cost time: `conformance` tests that it changes nothing."""
    if "interpreted" not in request.keywords:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        yield
    # Numba may have looked meanwhile, and would look again too late.
    if "numba" in sys.modules:
        sys.modules["numba"].config.reload_config()


def pytest_collection_modifyitems(items):
    """Let one of several processes run all tests of a method: each would compile the method for itself."""
    # Only now: when it is imported, NumPy adds filters of warnings to those of pytest, which are set by then.
    import pursuit

    # Programs are never compiled.
    compiled = frozenset(pursuit.list_methods()) - {"auto", "differences", "evolution"}
    for item in items:
        method = method_of(item, compiled)
        if method is not None:
            item.add_marker(pytest.mark.xdist_group(method))


def method_of(item, methods):
    """Return which of the methods a test compiles, if its parameters say so."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    for name in (text for text in parameters if isinstance(text, str)):
        family = "ep-cma" if name.startswith("ep-cma-") else name.removesuffix("-bracketing")
        if family == "ep-cma" or family in methods:
            return family
    return None
