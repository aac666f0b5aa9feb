"""Decides from recorded scans and a sample which columns should have a file index, and why not.

Points alone count (`=`, IN, keys of joins): reports do not tell how wide a range is, nor how rare
the part of a text is that is looked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optimizer.advice.domain.filters import POINTS, Filter, read_filters
from optimizer.advice.domain.layout_advice import (
    LEAST_SAVED,
    LEAST_SCANS,
    NoProposal,
    Traffic,
    percent,
)
from optimizer.iceberg.indexing.domain.wanted import MOST_COLUMNS, WantedIndex

CANDIDATES = 8
"""Columns of a table that are sampled: those whose scans planned most."""


@dataclass(frozen=True, slots=True)
class FilteredScans:
    """Scans that filtered a table in one way, and the bytes that they planned together."""

    filters: tuple[Filter, ...]
    n_scans: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column that an index could serve, by the scans that look for its values."""

    column: str
    n_scans: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class IndexOption:
    """What an index of a column would do: files that a look-up opens without and with it.

    `refused` says why it would not be built, or not pay; the figures are zero then.
    """

    column: str
    kind: str = ""
    files_without: float = 0.0
    files_with: float = 0.0
    storage_bytes: float = 0.0
    build_seconds: float = 0.0
    refused: str = ""

    @property
    def share(self) -> float:
        """Of one file that a look-up opens without it, so much is opened with it."""
        if self.refused or self.files_without <= 0:
            return 1.0
        return min(1.0, self.files_with / self.files_without)


@dataclass(frozen=True, slots=True)
class IndexProposal:
    """Columns to index; `expected` is what is read then, of one byte planned now."""

    columns: tuple[str, ...]
    expected: float
    storage_bytes: int
    build_seconds: float
    reason: str
    runner_up: str


def filtered_scans(shapes: Iterable[Mapping[str, Any]]) -> list[FilteredScans]:
    """Return recorded shapes `{filters, n_scans, n_bytes}` as scans."""
    return [
        FilteredScans(read_filters(one["filters"]), one["n_scans"], one["n_bytes"])
        for one in shapes
    ]


def index_candidates(
    scans: Iterable[FilteredScans], indexes: Sequence[WantedIndex]
) -> list[Candidate]:
    """Return the columns whose values are looked for and that have no index, the dearest first."""
    have = {one.column.lower() for one in indexes}
    found: dict[str, Candidate] = {}
    for each in scans:
        for column in _looked_for(each) - have:
            known = found.get(column, Candidate(column, 0, 0))
            found[column] = Candidate(
                column, known.n_scans + each.n_scans, known.n_bytes + each.n_bytes
            )
    enough = [one for one in found.values() if one.n_scans >= LEAST_SCANS]
    return sorted(enough, key=lambda one: (-one.n_bytes, one.column))[:CANDIDATES]


def decide_indexes(
    options: Sequence[IndexOption],
    scans: Sequence[FilteredScans],
    traffic: Traffic,
    *,
    indexes: Sequence[WantedIndex],
) -> IndexProposal | NoProposal:
    """Take the index that leaves out most, then the next, while each is worth its place.

    What an index leaves out of scans that another serves already does not count again.
    """
    if traffic.n_scans < LEAST_SCANS:
        return NoProposal(f"{traffic.n_scans} scans were recorded; {LEAST_SCANS} are needed.")
    if not options:
        return NoProposal("No column without an index is looked for by value often enough.")
    whole = max(1, sum(one.n_bytes for one in scans))
    taken: list[IndexOption] = []
    read = 1.0
    left = [one for one in options if one.share < 1 and "," not in one.column]
    room = MOST_COLUMNS - len({one.column for one in indexes})
    best: tuple[IndexOption, float] | None = None
    while left and len(taken) < room:
        best = _best(left, taken, scans, whole)
        if read - best[1] < LEAST_SAVED:
            break
        taken.append(best[0])
        read = best[1]
        left.remove(best[0])
        best = None
    if not taken:
        return NoProposal(_why_none(options[0], best, room))
    return IndexProposal(
        tuple(one.column for one in taken),
        read,
        round(sum(one.storage_bytes for one in taken)),
        sum(one.build_seconds for one in taken),
        _reason(taken, read),
        f"an index of {best[0].column} besides, would leave {percent(best[1])} to read"
        if best
        else "",
    )


def _looked_for(scans: FilteredScans) -> set[str]:
    return {one.column for one in scans.filters if one.kind in POINTS}


def _best(
    left: Sequence[IndexOption],
    taken: Sequence[IndexOption],
    scans: Sequence[FilteredScans],
    whole: int,
) -> tuple[IndexOption, float]:
    judged = [(one, _read([*taken, one], scans, whole)) for one in left]
    return min(judged, key=lambda pair: (pair[1], pair[0].column))


def _read(indexes: Sequence[IndexOption], scans: Sequence[FilteredScans], whole: int) -> float:
    """Return the share of the planned bytes that is read with these indexes."""
    shares = {one.column: one.share for one in indexes}
    read = 0.0
    for each in scans:
        served = [shares[name] for name in _looked_for(each) if name in shares]
        read += each.n_bytes * min(served, default=1.0)
    return read / whole


def _why_none(first: IndexOption, best: tuple[IndexOption, float] | None, room: int) -> str:
    if room <= 0:
        return f"The policy indexes {MOST_COLUMNS} columns already; no more can be."
    if best is not None:
        return (
            f"An index of {best[0].column} would leave out {percent(1 - best[1])} of what scans "
            f"plan; at least {percent(LEAST_SAVED)} is asked."
        )
    if "," in first.column:
        return (
            f"{first.column} has a comma in its name; its index is written into the policy by hand."
        )
    return f"An index of {first.column} does not pay: {first.refused or 'it leaves out no file'}."


def _reason(taken: Sequence[IndexOption], read: float) -> str:
    each = [
        f"a look-up by {one.column} opens {one.files_with:,.1f} files in place of "
        f"{one.files_without:,.1f} ({one.kind})"
        for one in taken
    ]
    return (
        f"With {'it' if len(taken) == 1 else 'them'}, {'; '.join(each)}. Recorded scans would read "
        f"{percent(read)} of what they plan now."
    )
