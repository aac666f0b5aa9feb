"""Estimates how large a cube would be from whole data files, and judges whether it would pay.

A cube holds the groups of each data file, so the groups of whole files are counted and not guessed
from single rows: the ratio of groups to rows in the files that were read, times the table's rows.
It is exact when all files were read. Where large files were left out it is rather too high, because
smaller files have more groups a row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MOST_SHARE = 1 / 3
"""A cube with more of the table's rows saves too little of a scan to be kept."""
MOST_BYTES = 1 / 2
SMALL_BYTES = 64 << 20
"""The bytes of smaller tables are not judged: heads and feet of files outweigh their values."""


@dataclass(frozen=True, slots=True)
class SampledFile:
    """One data file that was read whole."""

    n_rows: int
    n_groups: int


@dataclass(frozen=True, slots=True)
class TreeSample:
    """What a star-tree made of the groups of some files."""

    n_base: int
    n_rows: int
    """With the tree's own rows."""
    max_leaf: int
    """The largest leaf that a file's tree needed to stay within the budget."""
    n_files: int
    n_without: int
    """Files of which no tree stays within the budget."""
    read: float | None = None
    """Rows that the queries asked about read of it, of those without it, in the mean."""

    @property
    def times(self) -> float:
        """How many times as many rows a cube has with its tree."""
        return self.n_rows / self.n_base if self.n_base else 1.0


@dataclass(frozen=True, slots=True)
class CubeEstimate:
    """What a cube would hold, and what building it would take."""

    n_rows: int
    """Rows of the table."""
    n_bytes: int
    cube_rows: float
    """Without the star-tree's rows."""
    cube_bytes: float
    build_seconds: float
    is_exact: bool

    @property
    def share(self) -> float:
        """The cube's rows as a share of the table's."""
        return self.cube_rows / self.n_rows if self.n_rows else 0.0

    @property
    def byte_share(self) -> float:
        """The cube's bytes as a share of the table's."""
        return self.cube_bytes / self.n_bytes if self.n_bytes else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as a run's result has them."""
        return {**asdict(self), "share": self.share, "byte_share": self.byte_share}


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether a cube would pay, and the reason with its figures."""

    pays: bool
    reason: str


def estimated_rows(files: Sequence[SampledFile], n_rows: int) -> float:
    """Return how many groups all files have together, from those of some whole files."""
    seen = sum(one.n_rows for one in files)
    groups = sum(one.n_groups for one in files)
    return groups * n_rows / seen if seen else 0.0


def spread_files(sizes: Sequence[int], *, most_files: int, most_rows: int) -> list[int]:
    """Return the places of the files to read: spread over the list, at least one.

    `sizes` are their rows. What would pass `most_rows` is left out, the largest first.
    """
    whole = [place for place, n_rows in enumerate(sizes) if n_rows]
    if len(whole) > most_files:
        whole = [whole[at * len(whole) // most_files] for at in range(most_files)]
    chosen = sorted(whole, key=lambda place: sizes[place])
    while len(chosen) > 1 and sum(sizes[place] for place in chosen) > most_rows:
        chosen.pop()
    return sorted(chosen)


def judged(estimate: CubeEstimate, without: Mapping[str, float]) -> Judged:
    """Say whether a cube would pay; `without` has its rows without each dimension."""
    if not estimate.n_rows:
        return Judged(pays=True, reason="The table has no rows yet, so nothing could be estimated.")
    rows = (
        f"{estimate.cube_rows:,.0f} rows, {estimate.share:.1%} of the table's {estimate.n_rows:,}"
    )
    if estimate.share > MOST_SHARE:
        return Judged(
            pays=False,
            reason=f"The cube would hold {rows}; above {MOST_SHARE:.0%} it saves too little."
            + _hint(estimate, without),
        )
    if estimate.byte_share > MOST_BYTES and estimate.n_bytes > SMALL_BYTES:
        return Judged(
            pays=False,
            reason=f"The cube would take {estimate.byte_share:.0%} of the table's bytes; above "
            f"{MOST_BYTES:.0%} it saves too little. Take measures out of it.",
        )
    return Judged(pays=True, reason=f"The cube would hold {rows}.")


def _hint(estimate: CubeEstimate, without: Mapping[str, float]) -> str:
    if not without:
        return ""
    name = min(without, key=lambda one: without[one])
    if without[name] > 0.9 * estimate.cube_rows:
        return " No single dimension is the cause: take several out."
    share = without[name] / estimate.n_rows
    return f" Without the dimension {name} it would hold {share:.1%}."
