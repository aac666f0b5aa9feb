"""Totals of items that wait for an answer, by class, and what was dropped since the scan."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Due:
    """Items that are due now, due soon, and due but recently read, with their known bytes."""

    n_clean_now: int = 0
    n_soon: int = 0
    n_still_read: int = 0
    bytes_clean_now: int = 0
    bytes_soon: int = 0
    bytes_still_read: int = 0

    @property
    def n_items(self) -> int:
        """How many items these are."""
        return self.n_clean_now + self.n_soon + self.n_still_read

    @property
    def n_bytes(self) -> int:
        """How much data that is, as far as it was measured."""
        return self.bytes_clean_now + self.bytes_soon + self.bytes_still_read

    @property
    def parts(self) -> str:
        """The parts in words, those that are there."""
        named = (
            (self.n_clean_now, "due now"),
            (self.n_soon, "due soon"),
            (self.n_still_read, "due but recently read"),
        )
        return ", ".join(f"{n:,} {words}" for n, words in named if n)

    def __add__(self, other: "Due") -> "Due":
        return Due(*(getattr(self, one) + getattr(other, one) for one in DUE_NAMES))

    def __sub__(self, other: "Due") -> "Due":
        return Due(*(max(getattr(self, one) - getattr(other, one), 0) for one in DUE_NAMES))


DUE_NAMES = tuple(one.name for one in fields(Due))


@dataclass(frozen=True, slots=True)
class Gone:
    """What drops took out of one table since a scan and what has not come back.

    `n_still_read` is the recently read part, as the plans counted it.
    """

    n_items: int = 0
    n_bytes: int = 0
    n_still_read: int = 0

    def __add__(self, other: "Gone") -> "Gone":
        return Gone(
            self.n_items + other.n_items,
            self.n_bytes + other.n_bytes,
            self.n_still_read + other.n_still_read,
        )


def dropped_part(due: Due, gone: Gone) -> Due:
    """Return which part of a table's due items has been dropped.

    The number of items is exact. Bytes are shared out by items between the two classes that a plan
    takes from; a class that is gone whole loses all its bytes.
    """
    n_still_read = min(gone.n_still_read, gone.n_items, due.n_still_read)
    n_clean_now = min(gone.n_items - n_still_read, due.n_clean_now)
    n_still_read = min(gone.n_items - n_clean_now, due.n_still_read)
    return Due(
        n_clean_now=n_clean_now,
        n_still_read=n_still_read,
        bytes_clean_now=_bytes(n_clean_now, due.n_clean_now, due.bytes_clean_now, gone),
        bytes_still_read=_bytes(n_still_read, due.n_still_read, due.bytes_still_read, gone),
    )


def _bytes(n: int, n_all: int, all_bytes: int, gone: Gone) -> int:
    if n == n_all:
        return all_bytes
    return min(gone.n_bytes * n // gone.n_items, all_bytes) if gone.n_items else 0
