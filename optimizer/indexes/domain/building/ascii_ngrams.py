"""n-grams of text that is all ASCII, at which a table replaces sorting.

An n-gram of seven-bit letters is a number below 2^21, so a table of that length holds what was
met. Most text is such; `pieces.ngrams` does the rest, and gives the same numbers.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from optimizer.indexes.domain.byte_strings import ByteStrings, Longs, Words

_BITS, _WIDE_BITS = 7, 21
_A, _LETTERS, _LOWER = np.uint8(ord("A")), np.uint8(26), np.uint8(32)
_TOP = 0x80

Codes: TypeAlias = NDArray[np.uint32]


def is_ascii(strings: ByteStrings) -> bool:
    """Tell whether all bytes of the strings are ASCII."""
    data = strings.data[strings.offsets[0] : strings.offsets[-1]]
    return not len(data) or int(data.max()) < _TOP


def ascii_codes(strings: ByteStrings, n: int) -> tuple[Codes, Longs]:
    """Return the code of each window of n letters, folded, and the places of those that are none.

    Those are the windows that do not lie inside one string.
    """
    base = strings.offsets[0]
    data = strings.data[base : strings.offsets[-1]]
    letters = data + (data - _A < _LETTERS) * _LOWER
    count = max(len(letters) - n + 1, 0)
    codes = letters[:count].astype(np.uint32)
    for at in range(1, n):
        codes <<= np.uint32(_BITS)
        codes |= letters[at : at + count]
    starts, ends = strings.offsets[:-1] - base, strings.offsets[1:] - base
    cuts = [np.empty(0, np.int64)]
    for back in range(1, n):
        cut = ends[ends - back >= starts] - back
        cuts.append(cut[cut < count])
    return codes, np.concatenate(cuts)


def numbers_of(codes: Codes, n: int) -> Words:
    """Return the n-grams' numbers, as `pieces.ngrams` has them."""
    numbers = np.zeros(len(codes), np.uint64)
    for at in reversed(range(n)):
        letter = (codes >> np.uint32(_BITS * at)) & np.uint32(_TOP - 1)
        numbers = (numbers << np.uint64(_WIDE_BITS)) | letter.astype(np.uint64)
    return numbers


class AsciiNgrams:
    """The distinct n-grams that were met."""

    def __init__(self, n: int) -> None:
        self._n = n
        # One more for windows across strings, which are none.
        self._met = np.zeros((1 << _BITS * n) + 1, np.bool_)

    def add(self, strings: ByteStrings) -> None:
        """Take in the n-grams of strings that are all ASCII."""
        codes, across = ascii_codes(strings, self._n)
        codes[across] = len(self._met) - 1
        self._met[codes] = True

    def numbers(self) -> Words:
        """Return the numbers of what was met, ascending."""
        return numbers_of(np.flatnonzero(self._met[:-1]).astype(np.uint32), self._n)


class AsciiNumbering:
    """What number each n-gram was given, by its code."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._given = np.full(1 << _BITS * n, -1, np.int32)

    def unknown(self, codes: Codes) -> Codes:
        """Return the distinct codes that have no number yet."""
        fresh = codes[self._given[codes] < 0]
        if not fresh.size:
            return fresh
        ordered = np.sort(fresh)
        once: Codes = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
        return once

    def give(self, codes: Codes, numbers: NDArray[np.int64]) -> None:
        """Keep the numbers of these codes."""
        self._given[codes] = numbers

    def of(self, codes: Codes) -> Codes:
        """Return the number of each code."""
        numbers: Codes = self._given[codes].view(np.uint32)
        return numbers
