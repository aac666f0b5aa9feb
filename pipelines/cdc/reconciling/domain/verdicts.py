"""Says whether a row that is not the same at the source and in the lake differs, or only changed.

The source's row was read at a known position, and the lake's row once the lake had everything up
to that read. A change that came in between has left its version in the lake: in the row, or in a
tombstone. So without such a version both sides are of the same moment (ADR 0062).
"""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a row came to."""

    EQUAL = "equal"
    CHANGED = "changed"
    """It changed between both reads: it has to be read again."""
    MISSING = "missing"
    """The source has it, the lake does not."""
    EXTRA = "extra"
    """The lake has it, the source does not."""
    DIFFERENT = "different"
    UNFIT = "unfit"
    """A value does not fit the lake's type, so that the record is in quarantine."""


DIFFERENCES = (Verdict.MISSING, Verdict.EXTRA, Verdict.DIFFERENT)


@dataclass(frozen=True, slots=True)
class Pair:
    """A key on both sides; contents are digests, None where there is no row."""

    id: str
    """The key as JSON of its texts."""
    source: int | None
    lake: int | None
    read_at: int
    """Version of a position that is not after the read of the source: its row may be newer."""
    changed_at: int
    """Newest version that the lake has of the key: of its row or its tombstone; 0: none."""
    n_lake: int = 1
    """How many rows the lake has of the key."""
    is_unfit: bool = False


def judge(pair: Pair, *, end: int) -> Verdict:
    """Judge a key; `end` is the version of the source's position after the lake was read.

    The lake must have had everything up to the read of the source. A version above `end` is none
    that the source ever gave, so it excuses nothing.
    """
    if pair.source == pair.lake and pair.n_lake <= 1 and not pair.is_unfit:
        return Verdict.EQUAL
    if pair.read_at < pair.changed_at <= end:
        return Verdict.CHANGED
    if pair.is_unfit:
        return Verdict.UNFIT
    if pair.lake is None:
        return Verdict.MISSING
    return Verdict.EXTRA if pair.source is None else Verdict.DIFFERENT
