"""Many byte strings as one buffer with offsets, so that numpy works on all of them at once.

The form is Arrow's: string `i` is `data[offsets[i]:offsets[i + 1]]`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Longs: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class ByteStrings:
    """Byte strings one behind another; offsets may begin above 0, as slices of Arrow do."""

    offsets: Longs
    data: Bytes

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> "ByteStrings":
        """Return the strings in this form."""
        listed = list(strings)
        offsets = np.zeros(len(listed) + 1, np.int64)
        np.cumsum([len(one) for one in listed], out=offsets[1:])
        return cls(offsets, np.frombuffer(b"".join(listed), np.uint8))

    @classmethod
    def fixed(cls, width: int, data: bytes) -> "ByteStrings":
        """Return strings that are all `width` bytes long."""
        offsets = np.arange(len(data) // width + 1, dtype=np.int64) * width
        return cls(offsets, np.frombuffer(data, np.uint8))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        view = self.data.tobytes()
        bounds = self.offsets.tolist()
        for start, end in pairwise(bounds):
            yield view[start:end]

    @property
    def starts(self) -> Longs:
        """Where each string begins."""
        return self.offsets[:-1]

    @property
    def lengths(self) -> Longs:
        """How many bytes each string has."""
        return np.diff(self.offsets)

    def take(self, which: NDArray[Any]) -> "ByteStrings":
        """Return the strings at these places, or those where a mask is set."""
        return self.cut_out(self.starts[which], self.lengths[which])

    def cut_out(self, starts: Longs, lengths: Longs) -> "ByteStrings":
        """Return the strings that begin at these bytes of the buffer and are so long."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        return ByteStrings(offsets, self.data[places])

    @cached_property
    def _every_word(self) -> Words:
        """The 8 bytes from each byte on; behind the end stand zeros."""
        padded = np.concatenate([self.data, np.zeros(8, np.uint8)])
        return np.ndarray((len(self.data) + 1,), np.dtype("<u8"), padded.data, strides=(1,))

    def words(self, at: Longs) -> Words:
        """Return the 8 bytes at each place, little-endian; behind the end stand zeros."""
        return self._every_word[at].astype(np.uint64)

    def first_words(self) -> Words:
        """Return the first 8 bytes of each string as a big-endian number, filled with zeros."""
        bits = np.clip(self.lengths, 0, 8).astype(np.uint64) * np.uint64(8)
        big = self.words(self.starts).byteswap()
        # A shift by 64 is not defined: an empty string is put right behind.
        kept = big >> np.minimum(np.uint64(64) - bits, np.uint64(63))
        cut = kept << np.minimum(np.uint64(64) - bits, np.uint64(63))
        return np.where(bits == 0, np.uint64(0), cut)
