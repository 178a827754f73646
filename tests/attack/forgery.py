"""Checkpoints that somebody has made by hand: whole archives with wrong, huge or hostile contents.

Each forgery takes the header and the arrays of a checkpoint. It returns the bytes of a file, what was done,
and whether the file may be a valid checkpoint of another run, whose result differs.
"""

from __future__ import annotations

import functools
import io
import json
import math
import sys
import warnings
import zipfile
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

Header = dict[str, Any]
Arrays = dict[str, Any]
Forged = tuple[bytes, str, bool]

HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 3, 7.5, -7.5, 10**6, 2**31, 2**63, 2**64, 10**30, 10**400, 1e308, 1e-320),
    *(math.nan, math.inf, -math.inf, "", "evilmod:X", "evilmod:Y.Z", "os:abort", "nan", "\x00", "x" * 10**5),
    *([], [1.0], [[]], [[1.0, 2.0, 3.0]], ["a"], {}, {"p": 0.5}, {"p": "0.5"}, {"array": [1], "dtype": "O"}),
    *({"array": [0], "dtype": "V2000000000"}, {"array": [1.0] * 5, "dtype": "f8"}, {"array": 1, "dtype": {}}),
)
METHODS = ("rp", "cma", "ep-cma-2", "ep-cma-1000000000", "ep-cma-" + "9" * 20, "auto", "SARP", "evilmod:X")
GENERATORS = ("seed", "Generator", "RandomState", "MT19937", "SFC64", "test", "__class__", "default_rng")
DTYPES = ("i8", "f4", "c16", "O", "U8", ">f8", "?", "M8[s]", "V8", "f2")
_ACTIONS = ("value", "value", "shape", "dtype", "swap", "drop", "rename")
# What a loader is most likely to use without a check.
_FAVOURITES = ("method", "bit_generator", "n", "row", "rows", "received")
BOMBS = ("header", "state.x", "evil")
_PICKLE = b"cevilmod\nX\n(tR."
_EMPTY_ARCHIVE = b"PK\x05\x06" + bytes(18)
# How many rows a trace has.
_ROWS = 1024


def edit_header(header: Header, arrays: Arrays, random: Random) -> Forged:
    """Replace, delete or rename a value in the header."""
    places = list(_places(header))
    favourites = [place for place in places if place[-1] in _FAVOURITES]
    place = random.choice(favourites if random.random() < 0.3 else places)
    *above, last = place
    record: Any = functools.reduce(lambda inner, key: inner[key], above, header)
    old, action = record[last], random.choice(["replace"] * 6 + ["delete", "rename"])
    if action == "delete":
        del record[last]
        return packed(header, arrays), f"header without {place}", False
    if action == "rename" and isinstance(record, dict):
        record["evil"] = record.pop(last)
        return packed(header, arrays), f"header with {place} renamed", False
    names = {"method": METHODS, "bit_generator": GENERATORS}.get(last, HOSTILE)
    new = record[last] = random.choice(names if random.random() < 0.7 else HOSTILE)
    may_differ = _is_similar(last, old, new) or bool({"options", "limits"} & set(place))
    return packed(header, arrays), f"header with {place} = {str(new)[:60]}", may_differ


def edit_array(header: Header, arrays: Arrays, random: Random) -> Forged:
    """Give an array another value, shape, type or name."""
    name = random.choice(list(arrays))
    array = arrays.pop(name)
    action, may_differ = random.choice(_ACTIONS), False
    what = f"{action} of {name}"
    if action == "value" and array.size:
        new = random.choice(
            [math.nan, math.inf, -1.0, 0.0, 1e300] if array.dtype.kind == "f" else [-1, 2**62, 5]
        )
        array.flat[random.randrange(array.size)] = new
        arrays[name], what = array, f"{what}: {new}"
        # Bounds may be infinite, and values of the course of a run need not be numbers.
        may_differ = math.isfinite(new) or name in ("lower", "upper", "trace.fun", "received")
    elif action == "shape":
        column, twice = array.reshape(-1, 1), np.concatenate([array, array])
        arrays[name] = random.choice([array[:-1], array[:1], column, column.T, twice, array[:0], np.ones(())])
        what = f"{what}: {array.shape} became {arrays[name].shape}"
        # With fewer values received, a run is at an earlier moment.
        may_differ = name == "received"
    elif action == "dtype":
        dtype = random.choice(DTYPES)
        arrays[name] = np.zeros(array.shape, dtype) if dtype in ("V8", "M8[s]") else array.astype(dtype)
        what = f"{what}: {dtype}"
    elif action == "swap" and arrays:
        other = random.choice(list(arrays))
        arrays[name], arrays[other], what = arrays[other], array, f"{what} and {other}"
        may_differ = array.shape == arrays[name].shape and array.dtype == arrays[name].dtype
    elif action == "rename":
        arrays[f"{name}x"] = array
    return packed(header, arrays), what, may_differ


def edit_text(header: Header, arrays: Arrays, random: Random) -> Forged:
    """Write a header that is not what it should be as a text."""
    text = json.dumps(header)
    texts = {
        "a list nested 100 000 times": b"[" * 100_000,
        "records nested 5 000 times": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        "another JSON value": random.choice([b"1", b"null", b'"a"', b"[1, 2]", b"{}", b'{"format": 1}']),
        "bytes that are not UTF-8": text.encode().replace(b"a", b"\xff", 1),
        "UTF-16": text.encode("utf-16"),
        "half a header": text[: len(text) // 2].encode(),
        "a number of 5 000 digits": text.replace('"n": ', f'"n": {"9" * 5_000}', 1).encode(),
        "trailing NULs": text.encode() + bytes(8),
    }
    what = random.choice(list(texts))
    return packed(header, arrays, text=texts[what]), f"as header {what}", False


def edit_archive(header: Header, arrays: Arrays, random: Random) -> Forged:
    """Replace an entry, add one or have it twice, or be no archive at all."""
    whole = packed(header, arrays)
    contents = {
        "a shape of 10**12": _npy("'<f8'", "(1000000000000,)"),
        "a negative shape": _npy("'<f8'", "(-1,)"),
        "objects": _npy("'|O'", "(1,)") + _PICKLE,
        "records": _npy("[('a', '<f8'), ('b', '|O')]", "(1,)"),
        "a pickle": _PICKLE,
        "zeros": bytes(10**6),
    }
    what = random.choice([*contents, "1.2 GB"])
    name = random.choice(["evil", "header", *arrays] if what in contents else BOMBS)
    if what in contents and random.random() < 0.1:
        return contents[what], f"no archive but {what}", False
    file, instead = io.BytesIO(_EMPTY_ARCHIVE if what in contents else bomb(name)), random.random() < 0.5
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a") as archive:
        warnings.simplefilter("ignore")  # that there are two entries of one name is intended
        if what in contents:
            archive.writestr(f"{name}.npy", contents[what])
        with zipfile.ZipFile(io.BytesIO(whole)) as entries:
            for entry in entries.namelist():
                if not (instead and entry == f"{name}.npy"):
                    archive.writestr(entry, entries.read(entry))
    return file.getvalue(), f"an entry {name} of {what}{'' if instead else ', too'}", False


FORGERIES = (*[edit_header] * 5, *[edit_array] * 4, edit_text, edit_archive)


def packed(header: Header, arrays: Arrays, text: bytes | None = None) -> bytes:
    """Return the bytes of an archive like a checkpoint."""
    file = io.BytesIO()
    text = json.dumps(header).encode() if text is None else text
    np.savez(file, header=np.frombuffer(text, dtype=np.uint8), **arrays)
    return file.getvalue()


def unpacked(data: bytes) -> tuple[Header, Arrays]:
    """Return the header and the arrays of a checkpoint."""
    with np.load(io.BytesIO(data)) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


@functools.cache
def bomb(name: str) -> bytes:
    """Return an archive of a few megabytes with an entry of 1.2 GB; it takes some seconds to make."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as entry,
    ):
        entry.write(_npy("'|u1'", "(1200000000,)"))
        for _ in range(120):
            entry.write(bytes(10**7))
    return file.getvalue()


def _npy(dtype: str, shape: str) -> bytes:
    """Return the beginning of a .npy file."""
    text = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _places(record: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each value in a header."""
    keys = record if isinstance(record, dict) else range(len(record)) if isinstance(record, list) else ()
    for key in keys:
        yield (*above, key)
        yield from _places(record[key], (*above, key))


def _is_similar(name: str, old: Any, new: Any) -> bool:
    """Return whether a value could be in another checkpoint whose arrays are the same."""
    if name == "method":
        return new in METHODS
    if name == "n" or isinstance(new, bool) or not isinstance(new, int | float):
        return False
    if isinstance(old, int):
        # The state of a bit generator may be any number of 128 bits.
        most = _ROWS if name == "rows" else 2**128 if name in ("state", "inc") else 2**62
        return isinstance(new, int) and 0 <= new < most
    # A state may hold the value infinity.
    return isinstance(old, float) and (abs(new) <= sys.float_info.max or abs(new) == math.inf)
