"""Checkpoints that somebody has made by hand: whole archives with wrong, huge or hostile contents.

Each forgery takes the header and the arrays of a checkpoint. It returns the bytes of a file, what was done,
and whether the file may be a valid checkpoint of another run: a value of the same type and of a similar size.
"""

from __future__ import annotations

import functools
import io
import json
import math
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
METHODS = (
    "rp",
    "cma",
    "ep-cma-2",
    "ep-cma-99999999999999999999",
    "ep-cma-1000000000",
    "auto",
    "SARP",
    "evilmod:X",
)
GENERATORS = (
    "seed",
    "Generator",
    "RandomState",
    "MT19937",
    "SFC64",
    "test",
    "mtrand",
    "__class__",
    "default_rng",
)
# More rows than a trace has.
_MOST_ROWS = 1025
DTYPES = ("i8", "f4", "c16", "O", "U8", ">f8", "?", "M8[s]", "V8", "f2")


def edit_header(header: Header, arrays: Arrays, random: Random) -> Forged:
    place = random.choice(list(_places(header)))
    *above, last = place
    record = functools.reduce(lambda inner, key: inner[key], above, header)
    action, old = random.choice(["replace"] * 6 + ["delete", "rename"]), record[last]
    if action == "delete":
        del record[last]
        return packed(header, arrays), f"header without {place}", False
    if action == "rename" and isinstance(record, dict):
        record["evil"] = record.pop(last)
        return packed(header, arrays), f"header with {place} renamed", False
    names = {"method": METHODS, "bit_generator": GENERATORS}.get(last, HOSTILE)
    new = record[last] = random.choice(names if random.random() < 0.7 else HOSTILE)
    plausible = (
        (_is_similar(old, new) and (last != "rows" or new < _MOST_ROWS))
        or (last == "method" and new in METHODS)
        or "options" in place
    )
    return packed(header, arrays), f"header with {place} = {str(new)[:60]}", plausible


def edit_array(header: Header, arrays: Arrays, random: Random) -> Forged:
    name = random.choice(list(arrays))
    array, plausible = arrays[name], False
    action = random.choice(["value", "value", "shape", "dtype", "order", "drop", "swap", "rename"])
    what = f"{action} of {name}"
    if action == "value" and array.size and array.dtype.kind in "if":
        new: float = random.choice([math.nan, math.inf, -1.0, 0.0, 1e300, float(array.flat[0]) * 1.5])
        new = new if array.dtype.kind == "f" else int(random.choice([-1, 2**62, -(2**63), 5]))
        array.flat[random.randrange(array.size)] = new
        what, plausible = f"{what}: {new}", math.isfinite(new) or name in ("lower", "upper")
    elif action == "shape":
        shapes = (
            array[:-1],
            array[:1],
            array[..., None],
            np.concatenate([array] * 2),
            array[:0],
            np.float64(1.0),
        )
        arrays[name] = random.choice(shapes)
        what = f"{what}: {array.shape} became {np.shape(arrays[name])}"
    elif action == "dtype":
        dtype = random.choice(DTYPES)
        arrays[name] = np.zeros(array.shape, dtype) if dtype in ("V8", "M8[s]") else array.astype(dtype)
        what = f"{what}: {dtype}"
    elif action == "order":
        arrays[name] = np.asfortranarray(array) if array.ndim > 1 else array.reshape(1, -1)
    elif action == "drop":
        del arrays[name]
    elif action == "swap":
        other = random.choice(list(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
        what, plausible = f"{what} and {other}", arrays[name].shape == arrays[other].shape
    else:
        arrays[f"{name}x"] = arrays.pop(name)
    return packed(header, arrays), what, plausible


def edit_text(header: Header, arrays: Arrays, random: Random) -> Forged:
    text = json.dumps(header)
    whole: dict[str, bytes] = {
        "a list nested 100 000 times": b"[" * 100_000,
        "records nested 5 000 times": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        "another JSON value": random.choice([b"1", b"null", b'"a"', b"[1, 2]", b"{}", b'{"format": 1}']),
        "bytes that are not UTF-8": text.encode().replace(b"a", b"\xff", 1),
        "UTF-16": text.encode("utf-16"),
        "the header twice": (text[:-1] + ", " + text[1:]).encode(),
        "half a header": text[: len(text) // 2].encode(),
        "a number of 5 000 digits": text.replace('"n": ', f'"n": {"9" * 5_000}', 1).encode(),
        "trailing NULs": text.encode() + b"\x00" * 8,
    }
    what = random.choice(list(whole))
    return packed(header, arrays, text=whole[what]), what, False


def edit_archive(header: Header, arrays: Arrays, random: Random) -> Forged:
    entries = {
        "a shape of 10**12": _npy_header("'<f8'", "(1000000000000,)"),
        "a negative shape": _npy_header("'<f8'", "(-1,)"),
        "objects": _npy_header("'|O'", "(1,)") + PICKLE,
        "no array": b"import evilmod",
        "a pickle": PICKLE,
        "records": _npy_header("[('a', '<f8'), ('b', '|O')]", "(1,)"),
    }
    name, what = random.choice(["header", "evil", *arrays]), random.choice(list(entries))
    return _extended(_EMPTY, name, entries[what], header, arrays, random), f"an entry {name} of {what}", False


def add_bomb(header: Header, arrays: Arrays, random: Random) -> Forged:
    name = random.choice(BOMBS)
    return _extended(bomb(name), name, None, header, arrays, random), f"an entry {name} of 1.2 GB", False


def no_archive(header: Header, arrays: Arrays, random: Random) -> Forged:
    array = io.BytesIO()
    np.save(array, np.zeros(3))
    files = {
        "a pickle": PICKLE,
        "a .npy file": array.getvalue(),
        "zeros": bytes(10**6),
        "text": b"hello\n" * 9,
    }
    what = random.choice(list(files))
    return files[what], what, False


PICKLE = b"cevilmod\nX\n(tR."
BOMBS = ("header", "state.x", "evil")
_EMPTY = b"PK\x05\x06" + bytes(18)
FORGERIES = (*[edit_header] * 12, *[edit_array] * 8, *[edit_text, edit_archive, no_archive] * 2, add_bomb)


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
    file, block = io.BytesIO(), bytes(10**7)
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as entry,
    ):
        entry.write(_npy_header("'|u1'", "(1200000000,)"))
        for _ in range(120):
            entry.write(block)
    return file.getvalue()


def _extended(
    start: bytes, name: str, content: bytes | None, header: Header, arrays: Arrays, random: Random
) -> bytes:
    """Return an archive with an entry and those of a checkpoint; perhaps without the one of that name."""
    file = io.BytesIO(start)
    replaced = random.random() < 0.5
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a") as archive:
        warnings.simplefilter("ignore")  # that there are two entries of one name is intended
        if content is not None:
            archive.writestr(f"{name}.npy", content)
        with zipfile.ZipFile(io.BytesIO(packed(header, arrays))) as whole:
            for entry in whole.namelist():
                if not (replaced and entry == f"{name}.npy"):
                    archive.writestr(entry, whole.read(entry))
    return file.getvalue()


def _npy_header(dtype: str, shape: str) -> bytes:
    text = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _places(record: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each value in a header."""
    pairs = (
        record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    )
    for key, entry in pairs:
        yield (*above, key)
        yield from _places(entry, (*above, key))


def _is_similar(old: Any, new: Any) -> bool:
    """Return whether a value is of the type of another and of a similar size."""
    if isinstance(old, bool) or isinstance(new, bool) or not isinstance(new, int | float):
        return False
    if isinstance(old, int):
        return isinstance(new, int) and 0 <= new < 2**62
    return isinstance(old, float) and math.isfinite(new)
