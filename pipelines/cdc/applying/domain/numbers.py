"""Sets of batch numbers as intervals: which batches a table has, whatever their order was."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from portal.lake.errors import RuleViolation

MOST_INTERVALS = 100


@dataclass(frozen=True, slots=True)
class Numbers:
    """Sorted, separate intervals of numbers, written as `1-7,9`.

    It holds the newest hundred intervals. To forget a batch is safe, because one that is applied
    again changes nothing; to hold one that was not applied would lose it.
    """

    intervals: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Self:
        """Return the set of some numbers."""
        return cls(_joined((one, one) for one in numbers))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` wrote.

        Raises:
            RuleViolation: `cdc.batch_numbers`.
        """
        try:
            pairs = [one.partition("-") for one in text.split(",") if one]
            return cls(_joined((int(low), int(high or low)) for low, _, high in pairs))
        except ValueError as error:
            raise RuleViolation(
                "cdc.batch_numbers", f"{text[:80]!r} are no batch numbers, as 1-7,9 are."
            ) from error

    def __str__(self) -> str:
        return ",".join(f"{low}-{high}" if low < high else str(low) for low, high in self.intervals)

    def __contains__(self, number: int) -> bool:
        return any(low <= number <= high for low, high in self.intervals)

    def __bool__(self) -> bool:
        return bool(self.intervals)

    def __or__(self, other: "Numbers") -> "Numbers":
        return Numbers(_joined((*self.intervals, *other.intervals)))

    def __sub__(self, other: "Numbers") -> "Numbers":
        left = list(self.intervals)
        for first, last in other.intervals:
            left = [
                part
                for low, high in left
                for part in ((low, min(high, first - 1)), (max(low, last + 1), high))
                if part[0] <= part[1]
            ]
        return Numbers(tuple(sorted(left))[-MOST_INTERVALS:])

    def each(self) -> Iterator[int]:
        """Yield each number, in order."""
        for low, high in self.intervals:
            yield from range(low, high + 1)

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return sum(high - low + 1 for low, high in self.intervals)

    def first_missing(self, start: int) -> int:
        """Return the first number from `start` on that is not in the set."""
        for low, high in self.intervals:
            if low <= start <= high:
                return high + 1
        return start

    @property
    def last(self) -> int:
        """The greatest number; 0 of the empty set."""
        return self.intervals[-1][1] if self.intervals else 0


def _joined(intervals: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(_merged(sorted(intervals)))[-MOST_INTERVALS:]


def _merged(intervals: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    if not intervals:
        return
    low, high = intervals[0]
    for first, last in intervals[1:]:
        if first > high + 1:
            yield low, high
            low, high = first, last
        else:
            high = max(high, last)
    yield low, high
