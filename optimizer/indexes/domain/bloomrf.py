"""A Bloom filter for ranges, which tells that no value between two is in a data file.

Each layer sees a shorter prefix of the key. The top of a prefix is hashed to a word, its low bits
stay in order inside the word, so a run of prefixes is one mask.
"""

import math
import struct
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from optimizer.indexes.domain.byte_strings import Bools, Words
from optimizer.indexes.domain.hashing import mix

_HEAD = struct.Struct("<B15sQQQQ")
_GOLDEN = 0x9E3779B97F4A7C15
_ALL = (1 << 64) - 1
_WIDE = (7, 7, 7, 4, 4, 2, 2, 2)
"""The best of those that were measured for keys that are sparse in 64 bits."""
_MOST_LAYERS = 15
_WIDEST = 8
_TOP_RUN = 4096
"""More prefixes than this in the top layer are not looked at."""
_MOST_WORDS = 96
"""So many words are looked at to confirm what a layer says; then it is believed."""


def chosen_deltas(width: int, keys: int) -> tuple[int, ...]:
    """Return how many bits each layer adds, for so many keys in a domain of `width` bits.

    Prefixes that are fewer than the keys are all set, so no layer is spent on them.
    """
    useful = width - int(math.log2(max(keys, 1))) + 1
    if useful >= sum(_WIDE):
        return _WIDE
    useful = max(useful, 1)
    layers = min(len(_WIDE), useful)
    each, more = divmod(useful, layers)
    return tuple(each + 1 if at < more else each for at in range(layers))


def range_filter_of(
    numbers: Words, bits_a_key: float, deltas: tuple[int, ...] | None = None
) -> bytes:
    """Return the body of a range filter of these distinct ascending order numbers."""
    if not numbers.size:
        return _HEAD.pack(0, bytes(15), 0, 0, 0, 0)
    low, high = int(numbers[0]), int(numbers[-1])
    chosen = deltas or chosen_deltas((high - low).bit_length(), len(numbers))
    m = math.ceil(len(numbers) * bits_a_key / 128) * 128
    bits = np.zeros(m, np.bool_)
    keys = numbers - np.uint64(low)
    for layer, (base, delta) in enumerate(_layers(chosen)):
        bits[_places(keys >> np.uint64(base), layer, delta, m)] = True
    head = _HEAD.pack(len(chosen), bytes(chosen).ljust(15, b"\0"), low, high, m, len(numbers))
    return head + np.packbits(bits, bitorder="little").tobytes()


def _layers(deltas: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return the base and the delta of each layer, finest first."""
    return list(zip(accumulate(deltas[:-1], initial=0), deltas, strict=True))


def _places(prefixes: Words, layer: int, delta: int, m: int) -> Words:
    width = np.uint64(1 << (delta - 1))
    seed = np.uint64((layer + 1) * _GOLDEN & _ALL)
    word = mix((prefixes >> np.uint64(delta - 1)) + seed) % np.uint64(m // int(width))
    return word * width + prefixes % width


def _mix_one(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _ALL
    return x ^ (x >> 31)


@dataclass(frozen=True)
class BloomRF:
    """A range filter that was read."""

    deltas: tuple[int, ...]
    low: int
    high: int
    m: int
    n: int
    bits: bytes

    @classmethod
    def read(cls, body: bytes) -> "BloomRF":
        """Return the filter of this body.

        Raises:
            ValueError: When the body is no filter.
        """
        if len(body) < _HEAD.size:
            raise ValueError("shorter than its head")
        k, deltas, low, high, m, n = _HEAD.unpack_from(body)
        chosen = tuple(deltas[:k])
        if m % 128 or len(body) != _HEAD.size + m // 8 or k > _MOST_LAYERS or low > high:
            raise ValueError("numbers and length disagree")
        if m and (not k or not all(1 <= one <= _WIDEST for one in chosen) or sum(chosen) > 64):
            raise ValueError("layers of an unknown shape")
        return cls(chosen, low, high, m, n, body[_HEAD.size :])

    def might_hold(self, numbers: Words) -> Bools:
        """Return for each order number whether it may be there; false is certain."""
        if not self.m:
            return np.zeros(len(numbers), np.bool_)
        inside: Bools = (numbers >= np.uint64(self.low)) & (numbers <= np.uint64(self.high))
        packed = np.frombuffer(self.bits, np.uint8)
        keys = numbers - np.uint64(self.low)
        for layer, (base, delta) in enumerate(_layers(self.deltas)):
            place = _places(keys >> np.uint64(base), layer, delta, self.m)
            byte = packed[place >> np.uint64(3)]
            inside &= (byte >> (place & np.uint64(7)).astype(np.uint8)) & 1 == 1
        return inside

    def might_hold_between(self, first: int, last: int, *, words: int = _MOST_WORDS) -> bool:
        """Tell whether an order number from `first` to `last` may be there; false is certain.

        What a layer says is confirmed in those below by looking at about so many words.
        """
        first, last = max(first, self.low), min(last, self.high)
        if not self.m or first > last:
            return False
        return _Range(self, first - self.low, last - self.low, words).answer()


class _Range:
    """One question for a range of keys, from the coarsest layer down to the finest."""

    def __init__(self, known: BloomRF, first: int, last: int, most_words: int) -> None:
        self._known = known
        self._layers = _layers(known.deltas)
        self._first, self._last = first, last
        self._words, self._most_words = 0, most_words

    def answer(self) -> bool:
        top = len(self._layers) - 1
        base = self._layers[top][0]
        runs = [(self._first >> base, self._last >> base)]
        if runs[0][1] - runs[0][0] > _TOP_RUN:
            return True
        for layer in range(top, -1, -1):
            if any(self._holds(layer, *run) for run in runs):
                return True
            runs = [below for run in runs for below in self._edges(layer, *run)]
        return False

    def _whole(self, layer: int, prefix: int) -> bool:
        base = self._layers[layer][0]
        return self._first <= prefix << base and ((prefix + 1) << base) - 1 <= self._last

    def _holds(self, layer: int, start: int, end: int) -> bool:
        """Tell whether a prefix that lies wholly in the range is set, down to the finest layer."""
        start += not self._whole(layer, start)
        end -= end >= start and not self._whole(layer, end)
        return any(
            layer == 0 or self._words > self._most_words or self._holds(layer - 1, *below)
            for below in self._set_below(layer, start, end)
        )

    def _set_below(self, layer: int, start: int, end: int) -> list[tuple[int, int]]:
        """Return, of each prefix of the run that is set, the run of those below it."""
        if start > end:
            return []
        delta = self._layers[layer - 1][1] if layer else 0
        return [
            (prefix << delta, ((prefix + 1) << delta) - 1)
            for prefix in self._set_prefixes(layer, start, end)
        ]

    def _set_prefixes(self, layer: int, start: int, end: int) -> list[int]:
        delta, found = self._layers[layer][1], []
        width = 1 << (delta - 1)
        for word in range(start >> (delta - 1), (end >> (delta - 1)) + 1):
            bits = self._word(layer, word, width)
            while bits:
                prefix = word * width + (bits & -bits).bit_length() - 1
                if start <= prefix <= end:
                    found.append(prefix)
                bits &= bits - 1
        return found

    def _word(self, layer: int, word: int, width: int) -> int:
        self._words += 1
        hashed = _mix_one((word + (layer + 1) * _GOLDEN) & _ALL) % (self._known.m // width)
        at = hashed * width
        whole = int.from_bytes(self._known.bits[at >> 3 : (at + width + 7) >> 3], "little")
        return (whole >> (at & 7)) & ((1 << width) - 1)

    def _edges(self, layer: int, start: int, end: int) -> list[tuple[int, int]]:
        """Return the runs below the prefixes that lie in the range with a part only."""
        if layer == 0:
            return []
        base = self._layers[layer - 1][0]
        return [
            (max(below, self._first >> base), min(last, self._last >> base))
            for prefix in {start, end}
            if not self._whole(layer, prefix)
            for below, last in self._set_below(layer, prefix, prefix)
        ]
