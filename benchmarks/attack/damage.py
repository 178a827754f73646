"""Damage to a file's bytes, as disks, cables and editors do it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Damage = Callable[[bytes, Random], tuple[bytes, str]]


def flip_bits(data: bytes, random: Random) -> tuple[bytes, str]:
    damaged = bytearray(data)
    places = [random.randrange(8 * len(data)) for _ in range(random.choice([1, 1, 1, 2, 8]))]
    for place in places:
        damaged[place // 8] ^= 1 << place % 8
    return bytes(damaged), f"flipped bits {places}"


def set_bytes(data: bytes, random: Random) -> tuple[bytes, str]:
    start, length, byte = _span(data, random), random.choice([1, 1, 4, 64]), random.choice([0, 0xFF, 0x7F])
    return data[:start] + bytes([byte]) * length + data[start + length :], f"{length} x {byte:#x} at {start}"


def truncate(data: bytes, random: Random) -> tuple[bytes, str]:
    length = random.choice([0, 1, random.randrange(len(data)), len(data) - 1])
    return data[:length], f"truncated to {length} of {len(data)} bytes"


def insert(data: bytes, random: Random) -> tuple[bytes, str]:
    place, more = (
        random.choice([0, len(data), _span(data, random)]),
        random.randbytes(random.choice([1, 9, 900])),
    )
    return data[:place] + more + data[place:], f"inserted {len(more)} bytes at {place}"


def remove(data: bytes, random: Random) -> tuple[bytes, str]:
    start, length = _span(data, random), random.choice([1, 8, 100])
    return data[:start] + data[start + length :], f"removed {length} bytes at {start}"


def swap_blocks(data: bytes, random: Random) -> tuple[bytes, str]:
    length = min(random.choice([8, 64, 512, 4096]), len(data) // 2)
    one, other = sorted(random.sample(range(len(data) // length), 2))
    blocks = [data[i : i + length] for i in range(0, len(data), length)]
    blocks[one], blocks[other] = blocks[other], blocks[one]
    return b"".join(blocks), f"swapped blocks {one} and {other} of {length} bytes"


def _span(data: bytes, random: Random) -> int:
    return random.randrange(len(data))


DAMAGES: tuple[Damage, ...] = (flip_bits, flip_bits, set_bytes, truncate, insert, remove, swap_blocks)
