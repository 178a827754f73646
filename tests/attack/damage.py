"""Damage to a file's bytes, as disks, cables and editors do it."""

from __future__ import annotations

from random import Random


def damaged(data: bytes, random: Random) -> tuple[bytes, str]:
    """Return damaged bytes, and what was done to them."""
    place, length = random.randrange(len(data)), random.choice([1, 1, 4, 64, 900])
    end = place + length
    kind = random.choice(["bits", "bits", "bytes", "truncated", "inserted", "removed", "swapped"])
    if kind == "bits":
        return _flipped(data, random)
    if kind == "bytes":
        byte = random.choice([0, 0x7F, 0xFF])
        return data[:place] + bytes([byte]) * length + data[end:], f"{length} bytes {byte:#x} at {place}"
    if kind == "truncated":
        left = random.choice([0, 1, place, len(data) - 1])
        return data[:left], f"truncated to {left} of {len(data)} bytes"
    if kind == "inserted":
        place = random.choice([0, place, len(data)])
        return data[:place] + random.randbytes(length) + data[place:], f"{length} bytes inserted at {place}"
    if kind == "removed":
        return data[:place] + data[end:], f"{length} bytes removed at {place}"
    size = random.choice([8, 64, 512, 4096])
    blocks = [data[i : i + size] for i in range(0, len(data), size)]
    one, other = random.randrange(len(blocks)), random.randrange(len(blocks))
    blocks[one], blocks[other] = blocks[other], blocks[one]
    return b"".join(blocks), f"blocks {one} and {other} of {size} bytes swapped"


def _flipped(data: bytes, random: Random) -> tuple[bytes, str]:
    flipped = bytearray(data)
    places = [random.randrange(8 * len(data)) for _ in range(random.choice([1, 1, 1, 2, 8]))]
    for place in places:
        flipped[place // 8] ^= 1 << place % 8
    return bytes(flipped), f"flipped bits {places}"
