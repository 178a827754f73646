"""Some parts of methods are made for compiled code alone; tests call them by this."""

import numba


def from_python(function):
    """Return a function that Python can call."""

    @numba.njit(error_model="numpy")
    def call(*arguments):
        return function(*arguments)

    return call
