"""Archives of arrays from untrusted sources: read whole, or rejected before anything is allocated."""

from __future__ import annotations

import os
import zipfile
from typing import Any, BinaryIO

import numpy as np

_TYPES = ("<f8", "<i8", "|u1", "|b1")
_SUFFIX = ".npy"


def read_arrays(source: str | os.PathLike[str] | BinaryIO) -> dict[str, Any]:
    """Return the arrays of an uncompressed NumPy archive, by name.

    Like `numpy.load`, but with no more memory than the file itself takes: entries that are compressed, claim
    a size that they do not have, or hold anything but plain numbers are rejected.
    """
    arrays: dict[str, Any] = {}
    with zipfile.ZipFile(source) as archive:
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
                raise ValueError(f"the entry {entry.filename} is compressed")
            if not entry.filename.endswith(_SUFFIX) or entry.filename.removesuffix(_SUFFIX) in arrays:
                raise ValueError(f"the entry {entry.filename} is not an array, or occurs twice")
            arrays[entry.filename.removesuffix(_SUFFIX)] = _read_array(archive, entry)
    return arrays


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"the entry {entry.filename} has a version that is not supported")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        if dtype.str not in _TYPES or len(shape) > 2:
            raise ValueError(f"the entry {entry.filename} does not hold plain numbers")
        data = file.read()
    if any(length < 0 for length in shape) or len(data) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError(f"the entry {entry.filename} is not as long as it says")
    # In the order that it had: sums of rows and of columns are rounded differently.
    return np.frombuffer(bytearray(data), dtype=dtype).reshape(shape, order="F" if fortran else "C")
