"""Words and n-grams of strings, found in all strings of a chunk at once.

A-Z are folded to a-z and no other letter is, because Unicode's folding differs between languages
and their versions.
"""

from dataclasses import dataclass

import numpy as np

from optimizer.indexes.domain.byte_strings import Bools, ByteStrings, Longs, Words
from optimizer.indexes.domain.hashing import hash_pieces

LONGEST_TOKEN = 256
LONGEST_NGRAM = 3
ODD_LOWER = (0x130, 0x212A)
"""Letters that become ASCII when they are lowered."""
_CHARACTER = np.uint64(21)
_A, _SMALL_A, _ZERO = (np.uint8(ord(letter)) for letter in "Aa0")
_LETTERS, _DIGITS, _LOWER = np.uint8(26), np.uint8(10), np.uint8(32)


@dataclass(frozen=True)
class Tokens:
    """Words, folded, as places in the text of all strings."""

    text: ByteStrings
    """All strings, folded."""
    starts: Longs
    lengths: Longs

    @property
    def words(self) -> ByteStrings:
        """The words themselves."""
        return self.text.cut_out(self.starts, self.lengths)

    @property
    def owners(self) -> Longs:
        """The place of the string that each word is of."""
        return np.searchsorted(self.text.offsets[1:], self.starts, side="right")

    def hashes(self) -> Words:
        """Return the hash of each word, without cutting it out."""
        return hash_pieces(self.text, self.starts, self.lengths)


@dataclass(frozen=True)
class Ngrams:
    """n-grams as numbers."""

    numbers: Words
    inside: Bools
    """Which windows of the code points lie inside one string, and so are n-grams."""
    offsets: Longs

    @property
    def owners(self) -> Longs:
        """The place of the string that each n-gram is of."""
        all_owners = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return all_owners[: len(self.inside)][self.inside]


def tokens(strings: ByteStrings) -> Tokens:
    """Return every run of ASCII letters and digits, cut at 256 bytes."""
    base = int(strings.offsets[0])
    data = strings.data[base : strings.offsets[-1]]
    # By arithmetic, which numpy does on many bytes at once; a table it asks byte by byte.
    folded = data + (data - _A < _LETTERS) * _LOWER
    inside = (folded - _SMALL_A < _LETTERS) | (folded - _ZERO < _DIGITS)
    first = _string_starts(strings, base, len(data))
    before = np.concatenate([[False], inside[:-1]])
    after = np.concatenate([inside[1:], [False]])
    starts = np.flatnonzero(inside & (~before | first[:-1]))
    ends = np.flatnonzero(inside & (~after | first[1:])) + 1
    lengths = np.minimum(ends - starts, LONGEST_TOKEN)
    text = ByteStrings(strings.offsets - base, folded)
    return Tokens(text, starts, lengths)


def _string_starts(strings: ByteStrings, base: int, size: int) -> Bools:
    """Mark the bytes at which a string begins, and the one behind the end."""
    first = np.zeros(size + 1, np.bool_)
    first[strings.offsets - base] = True
    return first


def code_points(strings: ByteStrings) -> tuple[Words, Longs] | None:
    """Return all code points, and the offsets of each string in them; None if not UTF-8."""
    base = int(strings.offsets[0])
    data = strings.data[base : strings.offsets[-1]]
    if not len(data) or int(data.max()) < 0x80:
        return data.astype(np.uint64), strings.offsets - base
    leads = (data & 0xC0) != 0x80
    starts = strings.starts[strings.lengths > 0] - base
    if not leads[starts].all():
        return None
    try:
        text = data.tobytes().decode()
    except UnicodeDecodeError:
        return None
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    counted = np.concatenate([[0], np.cumsum(leads)])
    return points, counted[strings.offsets - base]


def has_odd_lower(points: Words) -> bool:
    """Tell whether a letter is among them that becomes ASCII when it is lowered."""
    return any(bool((points == odd).any()) for odd in ODD_LOWER)


def ngrams(points: Words, offsets: Longs, n: int) -> Ngrams:
    """Return each window of n code points that lies inside one string."""
    folded = points + ((points - np.uint64(65) < 26).astype(np.uint64) << np.uint64(5))
    count = max(len(folded) - n + 1, 0)
    numbers = np.zeros(count, np.uint64)
    for at in range(n):
        numbers = (numbers << _CHARACTER) | folded[at : at + count]
    inside = np.ones(count, np.bool_)
    starts, ends = offsets[:-1], offsets[1:]
    for back in range(1, n):
        cut = ends[ends - back >= starts] - back
        inside[cut[cut < count]] = False
    return Ngrams(numbers[inside], inside, offsets)


def tokens_of(text: str) -> list[bytes]:
    """Return the words of one text, in order."""
    return list(tokens(ByteStrings.of([text.encode(errors="surrogatepass")])).words)


def ngrams_of(text: str, n: int) -> list[int]:
    """Return the n-grams of one text, in order."""
    points = np.array([ord(letter) for letter in text], np.uint64)
    found: list[int] = ngrams(points, np.array([0, len(text)]), n).numbers.tolist()
    return found
