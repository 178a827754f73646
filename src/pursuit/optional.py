"""Packages that people may have, imported only when they are used."""

from __future__ import annotations

import importlib
from typing import Any


def optional_module(name: str, purpose: str) -> Any:
    """Return a module by its name; where its package is missing, say who needs it and how to install it.

    Parameters
    ----------
    name : str
        The module's name.
    purpose : str
        What needs it, as the beginning of a sentence.

    Examples
    --------
    >>> optional_module("math", "This example").pi > 3
    True
    >>> optional_module("no_such_package", "This example")
    Traceback (most recent call last):
    ImportError: This example needs no_such_package, which is not installed: pip install no_such_package.
    """
    package = name.partition(".")[0]
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            # It is there, and lacks something itself.
            raise
        raise ImportError(
            f"{purpose} needs {package}, which is not installed: pip install {package}."
        ) from None
    return importlib.import_module(name)
