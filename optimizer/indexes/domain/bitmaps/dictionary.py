"""Dictionaries of bitmaps: the distinct values of a column, in order, and each row's place in them.

A key is an order number, or the bytes that stand in the dictionary: of decimals 16, of others the
value's own.
"""

import struct
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from optimizer.indexes.domain.bloom import TooManyKeys
from optimizer.indexes.domain.byte_strings import ByteStrings, Longs
from optimizer.indexes.domain.hashing import hash_strings
from optimizer.indexes.domain.values import NUMBERS, ValueClass, Values, order_numbers

Key: TypeAlias = int | bytes
_LENGTH = struct.Struct("<I")
_DECIMAL_BYTES = 16
_DECIMAL_TOP = 1 << 127


def decimal_key(raw: bytes) -> bytes:
    """Return the dictionary's form of a decimal, from the bytes of the value."""
    number = int.from_bytes(raw, "big", signed=True)
    return (number + _DECIMAL_TOP).to_bytes(_DECIMAL_BYTES, "big")


def coded(values: Values) -> tuple[list[Key], Longs]:
    """Return the distinct keys of values without nulls, and the place of each value's key."""
    if values.type.value_class in NUMBERS:
        numbers, places = np.unique(order_numbers(values), return_inverse=True)
        return numbers.tolist(), places
    strings, places = distinct_strings(values.strings or ByteStrings.of(()))
    if values.type.value_class == ValueClass.DECIMAL:
        return [decimal_key(one) for one in strings], places
    return list(strings), places


def distinct_strings(strings: ByteStrings) -> tuple[Sequence[bytes], Longs]:
    """Return the distinct strings in no order, and the place of each string in them."""
    hashes = hash_strings(strings)
    _, firsts, places = np.unique(hashes, return_index=True, return_inverse=True)
    chosen = firsts[places]
    alike = (strings.lengths[chosen] == strings.lengths) & (
        strings.first_words()[chosen] == strings.first_words()
    )
    if alike.all():
        return list(strings.take(firsts)), places
    # Two strings of one hash: they are told apart by what they are.
    known: dict[bytes, int] = {}
    slow = np.array([known.setdefault(one, len(known)) for one in strings], np.int64)
    return list(known), slow


class Numbering:
    """Numbers keys in the order of their coming, within a limit of keys and of their bytes."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._numbers: dict[Key, int] = {}
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, keys: Sequence[Key]) -> Longs:
        """Return the number of each key.

        Raises:
            TooManyKeys: When there are more keys, or longer ones, than the limit.
        """
        numbers = np.empty(len(keys), np.int64)
        for at, key in enumerate(keys):
            number = self._numbers.get(key)
            if number is None:
                number = self._taken_in(key)
            numbers[at] = number
        return numbers

    def _taken_in(self, key: Key) -> int:
        self._bytes += len(key) if isinstance(key, bytes) else 8
        if len(self._numbers) >= self._most:
            raise TooManyKeys(f"more than {self._most:,} distinct values")
        if self._bytes > self._most_bytes:
            raise TooManyKeys(f"distinct values of more than {self._most_bytes:,} bytes")
        number = self._numbers[key] = len(self._numbers)
        return number

    def ordered(self) -> tuple[list[Key], Longs]:
        """Return the keys ascending, and the rank of each number."""
        keys = sorted(self._numbers)
        ranks = np.empty(len(keys), np.int64)
        ranks[[self._numbers[key] for key in keys]] = np.arange(len(keys))
        return keys, ranks


def written(keys: Sequence[Key], *, fixed: bool) -> bytes:
    """Return the bytes of a dictionary of ascending keys; `fixed` ones have no lengths."""
    if not keys or isinstance(keys[0], int):
        return np.array(keys, "<u8").tobytes()
    parts: list[bytes] = []
    for key in keys:
        raw = key if isinstance(key, bytes) else b""
        parts += [raw] if fixed else [_LENGTH.pack(len(raw)), raw]
    return b"".join(parts)


def read(data: bytes, count: int, *, numbers: bool, fixed: bool) -> Sequence[Key]:
    """Return the keys of a dictionary.

    Raises:
        ValueError: When the bytes are not so many keys.
    """
    keys: Sequence[Key]
    if numbers:
        keys = np.frombuffer(data, "<u8").tolist()
    elif fixed:
        keys = [data[at : at + _DECIMAL_BYTES] for at in range(0, len(data), _DECIMAL_BYTES)]
    else:
        keys = list(_lengths_and_bytes(data))
    if len(keys) != count:
        raise ValueError("not as many values as said")
    return keys


def _lengths_and_bytes(data: bytes) -> Sequence[bytes]:
    keys: list[bytes] = []
    at = 0
    while at < len(data):
        if at + 4 > len(data):
            raise ValueError("a value is cut")
        end = at + 4 + int(_LENGTH.unpack_from(data, at)[0])
        if end > len(data):
            raise ValueError("a value is cut")
        keys.append(data[at + 4 : end])
        at = end
    return keys
