"""A Bloom filter over hashes, which tells that a key is surely not in a data file.

Sized by the distinct keys at the end, so the keys' hashes are held until then: 8 bytes each, with a
limit, past which there is no filter but a reason.
"""

import math
import struct
from dataclasses import dataclass

import numpy as np

from optimizer.indexes.domain.byte_strings import Bools, Bytes, Words
from optimizer.indexes.domain.hashing import distinct, mix

MOST_KEYS = 16_000_000
"""So 128 MB of hashes; a filter of more keys is of no use to a planner that must load it."""
_HEAD = struct.Struct("<B7xQQ")
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MOST_HASHES = 30


class TooManyKeys(Exception):
    """More distinct keys than a filter may hold; the message says how many."""


class DistinctHashes:
    """The distinct 64-bit numbers of a column, gathered chunk by chunk."""

    def __init__(self, most: int = MOST_KEYS) -> None:
        self._most = most
        self._known = np.empty(0, np.uint64)
        self._fresh: list[Words] = []
        self._waiting = 0

    def add(self, numbers: Words) -> None:
        """Take in numbers, with or without repeats.

        Raises:
            TooManyKeys: When more distinct ones than the limit have come.
        """
        once = distinct(numbers)
        self._fresh.append(once)
        self._waiting += len(once)
        if self._waiting > max(len(self._known), 1 << 20):
            self._join()

    def _join(self) -> None:
        self._known = distinct(np.concatenate([self._known, *self._fresh]))
        self._fresh, self._waiting = [], 0
        if len(self._known) > self._most:
            raise TooManyKeys(f"more than {self._most:,} distinct keys")

    def all(self) -> Words:
        """Return the distinct numbers, ascending.

        Raises:
            TooManyKeys: When they are more than the limit.
        """
        self._join()
        return self._known


def filter_of(hashes: Words, bits_a_key: float) -> bytes:
    """Return the body of a filter of these distinct hashes."""
    if not hashes.size:
        return _HEAD.pack(1, 0, 0)
    m = math.ceil(len(hashes) * bits_a_key / 64) * 64
    k = min(_MOST_HASHES, max(1, round(m / len(hashes) * math.log(2))))
    bits = np.zeros(m, np.bool_)
    for place in _places(hashes, k, m):
        bits[place] = True
    return _HEAD.pack(k, m, len(hashes)) + np.packbits(bits, bitorder="little").tobytes()


def _places(hashes: Words, k: int, m: int) -> list[Words]:
    step = mix(hashes ^ _GOLDEN) | np.uint64(1)
    return [(hashes + np.uint64(i) * step) % np.uint64(m) for i in range(k)]


@dataclass(frozen=True)
class Bloom:
    """A filter that was read."""

    k: int
    m: int
    n: int
    bits: Bytes

    @classmethod
    def read(cls, body: bytes) -> "Bloom":
        """Return the filter of this body.

        Raises:
            ValueError: When the body is no filter.
        """
        if len(body) < _HEAD.size:
            raise ValueError("shorter than its head")
        k, m, n = _HEAD.unpack_from(body)
        if m % 64 or len(body) != _HEAD.size + m // 8 or not 1 <= k <= 255:
            raise ValueError("numbers and length disagree")
        return cls(k, m, n, np.frombuffer(body, np.uint8, offset=_HEAD.size))

    def might_hold(self, hashes: Words) -> Bools:
        """Return for each hash whether its key may be there; false is certain."""
        found = np.full(len(hashes), self.m > 0)
        if self.m:
            for place in _places(hashes, self.k, self.m):
                byte = self.bits[place >> np.uint64(3)]
                found &= (byte >> (place & np.uint64(7)).astype(np.uint8)) & 1 == 1
        return found

    @property
    def false_positives(self) -> float:
        """The share of absent keys that pass, by the bits that are set."""
        if not self.m:
            return 0.0
        share = int(np.bitwise_count(self.bits).sum()) / self.m
        return float(share**self.k)
