"""Words and n-grams of strings, found in all strings of a chunk at once.

A-Z are folded to a-z and no other letter is, because Unicode's folding differs between languages
and their versions.
"""

from dataclasses import dataclass

import numpy as np

from optimizer.indexes.domain.byte_strings import Bools, ByteStrings, Longs, Words

LONGEST_TOKEN = 256
LONGEST_NGRAM = 3
ODD_LOWER = (0x130, 0x212A)
"""Letters that become ASCII when they are lowered."""
_CHARACTER = np.uint64(21)
_LETTERS = np.zeros(256, np.bool_)
_LETTERS[[*range(48, 58), *range(65, 91), *range(97, 123)]] = True
_FOLDED = np.arange(256, dtype=np.uint8)
_FOLDED[65:91] += 32


@dataclass(frozen=True)
class Tokens:
    """Words, folded, with the place of the string that each is of."""

    words: ByteStrings
    owners: Longs


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
    inside = _LETTERS[data]
    first = _string_starts(strings, base, len(data))
    before = np.concatenate([[False], inside[:-1]])
    after = np.concatenate([inside[1:], [False]])
    starts = np.flatnonzero(inside & (~before | first[:-1]))
    ends = np.flatnonzero(inside & (~after | first[1:])) + 1
    lengths = np.minimum(ends - starts, LONGEST_TOKEN)
    words = strings.cut_out(starts + base, lengths)
    owners = np.searchsorted(strings.offsets[1:], starts + base, side="right")
    return Tokens(ByteStrings(words.offsets, _FOLDED[words.data]), owners)


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
