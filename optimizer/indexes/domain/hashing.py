"""XXH64 with seed 42 of values, the mixer of the filters, and distinct values by hash.

Spark's `xxhash64` gives the same for `long`, `double` and `string`. For other types it hashes other
bytes than the format does.
"""

import numpy as np
import xxhash

from optimizer.indexes.domain.byte_strings import ByteStrings, Longs, Words

SEED = 42
_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(number)
    for number in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)
_LANES = [
    (SEED + more) % (1 << 64) for more in (int(_P1) + int(_P2), int(_P2), 0, (1 << 64) - int(_P1))
]
"""Where the four words of a stripe begin."""
_STRIPE = 32
"""From this length on XXH64 works on stripes of four words."""
_LONG = 1024
"""Longer strings are few, and go one by one to the library."""


def _turned(words: Words, bits: int) -> Words:
    return (words << np.uint64(bits)) | (words >> np.uint64(64 - bits))


def _with_word(state: Words, word: Words) -> Words:
    return _turned(state ^ (_turned(word * _P2, 31) * _P1), 27) * _P1 + _P4


def _finished(state: Words) -> Words:
    state = (state ^ (state >> np.uint64(33))) * _P2
    state = (state ^ (state >> np.uint64(29))) * _P3
    return state ^ (state >> np.uint64(32))


def hash_words(words: Words) -> Words:
    """Return the hash of each number's 8 little-endian bytes."""
    start = np.full(len(words), np.uint64(SEED + 8) + _P5, np.uint64)
    return _finished(_with_word(start, words))


def hash_bytes(value: bytes) -> int:
    """Return the hash of these bytes."""
    return xxhash.xxh64_intdigest(value, seed=SEED)


def hash_strings(strings: ByteStrings) -> Words:
    """Return the hash of each string."""
    return hash_pieces(strings, strings.starts, strings.lengths)


def hash_pieces(strings: ByteStrings, starts: Longs, lengths: Longs) -> Words:
    """Return the hash of each piece of the buffer that begins here and is so long."""
    state = lengths.astype(np.uint64) + np.uint64(SEED) + _P5
    at, left = starts.copy(), lengths.copy()
    striped = np.flatnonzero(lengths >= _STRIPE)
    if striped.size:
        many = striped[lengths[striped] < _LONG]
        size = lengths[many]
        state[many] = _stripes(strings, starts[many], size) + size.astype(np.uint64)
        done = left[many] & ~np.int64(_STRIPE - 1)
        at[many] += done
        left[many] -= done
        left[lengths >= _LONG] = 0
    hashes = _rest(strings, state, at, left)
    for index in np.flatnonzero(lengths >= _LONG).tolist():
        piece = strings.data[starts[index] : starts[index] + lengths[index]]
        hashes[index] = xxhash.xxh64_intdigest(piece.tobytes(), seed=SEED)
    return hashes


def _stripes(strings: ByteStrings, starts: Longs, lengths: Longs) -> Words:
    """Return the state after all whole stripes of each string."""
    lanes = [np.full(len(starts), lane, np.uint64) for lane in _LANES]
    at, left = starts.copy(), lengths.copy()
    while (more := np.flatnonzero(left >= _STRIPE)).size:
        place = at[more]
        for number, lane in enumerate(lanes):
            word = strings.words(place + 8 * number)
            lane[more] = _turned(lane[more] + word * _P2, 31) * _P1
        at[more] += _STRIPE
        left[more] -= _STRIPE
    state: Words = np.zeros(len(starts), np.uint64)
    for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True):
        state = state + _turned(lane, bits)
    for lane in lanes:
        state = (state ^ (_turned(lane * _P2, 31) * _P1)) * _P1 + _P4
    return state


def _rest(strings: ByteStrings, state: Words, at: Longs, left: Longs) -> Words:
    """Return the hashes after the last bytes of each string, fewer than a stripe."""
    while (more := np.flatnonzero(left >= 8)).size:
        state[more] = _with_word(state[more], strings.words(at[more]))
        at[more] += 8
        left[more] -= 8
    if (more := np.flatnonzero(left >= 4)).size:
        half = strings.words(at[more]) & np.uint64(0xFFFFFFFF)
        state[more] = _turned(state[more] ^ (half * _P1), 23) * _P2 + _P3
        at[more] += 4
        left[more] -= 4
    while (more := np.flatnonzero(left > 0)).size:
        last = strings.words(at[more]) & np.uint64(0xFF)
        state[more] = _turned(state[more] ^ (last * _P5), 11) * _P1
        at[more] += 1
        left[more] -= 1
    return _finished(state)


def mix(words: Words) -> Words:
    """Return the words mixed, so that neighbours lie far from each other."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def distinct(words: Words) -> Words:
    """Return the distinct numbers, ascending.

    numpy's own `unique` counts by a hash table, which takes 70 times as long on random words.
    """
    ordered = np.sort(words)
    if not ordered.size:
        return ordered
    first: Words = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    return first
