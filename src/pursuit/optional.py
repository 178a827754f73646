"""Optional packages, imported only when they are used, and how to install those of an extra."""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import Any


def optional_module(name: str, purpose: str) -> Any:
    """Return a module by its name; if its package is missing, say what needs it and how to install it.

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
            # It is installed, but lacks something itself.
            raise
        raise ImportError(
            f"{purpose} needs {package}, which is not installed: pip install {package}."
        ) from None
    return importlib.import_module(name)


def version_of(package: str) -> str:
    """Return the version of a package that is installed; an empty text if it is not.

    Examples
    --------
    >>> version_of("no_such_package")
    ''
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def how_to_install(*extras: str) -> str:
    """Return the commands that install extras of this package, from a checkout and from an index.

    Examples
    --------
    >>> how_to_install("study", "gpu")
    "python -m pip install '.[study,gpu]' in a checkout, else pip install 'pursuit[study,gpu]'"
    """
    names = ",".join(extras)
    return f"python -m pip install '.[{names}]' in a checkout, else pip install 'pursuit[{names}]'"
