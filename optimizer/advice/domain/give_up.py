"""Decides what of a table to give up: its layout, file indexes and cubes that serve no query.

Silence is evidence only where readers do tell: the table has to be scanned on many days, and for
indexes and cubes some reader of the lake has to report what they save.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from optimizer.advice.domain.layout_advice import LEAST_SCANS, NoProposal
from optimizer.core.domain.sizes import size_words

UNUSED_FOR = timedelta(days=28)
LEAST_DAYS = 7


@dataclass(frozen=True, slots=True)
class Kept:
    """A layout, file index or cube, with what it did in four weeks and what it takes.

    `since` is when it was asked for in its present form; None where that is not known. A layout is
    used by scans that filter one of its columns.
    """

    name: str
    since: datetime | None
    n_used: int
    n_bytes: int
    seconds_a_day: float | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """What was heard of a table in four weeks, and whether readers tell what they were saved."""

    n_scans: int
    n_days: int
    readers_report: bool
    is_narrowed: bool = False
    """Whether people had files listed by indexes, which no report counts."""
    is_overwritten: bool = False
    """Whether writers replaced files: a merge finds fewer to replace where rows are in order."""
    is_cut: bool = False
    """Whether filters came that were not summed any more, as there were too many of them."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Names of what is to be given up, in the order given, and why."""

    names: tuple[str, ...]
    n_bytes: int
    seconds_a_day: float | None
    reason: str


def decide_give_up(
    kept: Sequence[Kept], heard: Heard, *, what: str, now: datetime
) -> GiveUp | NoProposal:
    """Return what was of no use for four weeks; `what` is "file index" or "cube"."""
    if too_few := _too_few(heard):
        return too_few
    if not heard.readers_report:
        return NoProposal("No reader reports what indexes and cubes save, so nobody knows.")
    if heard.is_narrowed:
        return NoProposal("Queries were narrowed to files by indexes, which no report counts.")
    unused = [one for one in kept if _is_unused(one, now)]
    if not unused:
        return NoProposal(f"Each {what} was of use in four weeks, or is younger.")
    seconds = [one.seconds_a_day for one in unused if one.seconds_a_day is not None]
    n_bytes = sum(one.n_bytes for one in unused)
    a_day = sum(seconds) if seconds else None
    one_of_them = len(unused) == 1
    taken = f"{'It takes' if one_of_them else 'They take'} {size_words(n_bytes)}"
    if a_day is not None:
        taken += f" and {a_day:,.1f} s of builds a day"
    return GiveUp(
        tuple(one.name for one in unused),
        n_bytes,
        a_day,
        f"{heard.n_scans:,} scans on {heard.n_days} days were recorded, and the "
        f"{what if one_of_them else what + ('es' if what.endswith('x') else 's')} "
        f"{', '.join(one.name for one in unused)} left out nothing in four weeks. {taken}.",
    )


def decide_layout_give_up(layout: Kept, heard: Heard, *, now: datetime) -> GiveUp | NoProposal:
    """Return the layout where no scan filtered any of its columns for four weeks."""
    if too_few := _too_few(heard):
        return too_few
    if heard.is_overwritten:
        return NoProposal(
            "Writers replaced files, which an order may spare them; nobody counts it."
        )
    if heard.is_cut:
        return NoProposal("There were more filters a day than are summed, so nobody knows.")
    if not _is_unused(layout, now):
        return NoProposal("The layout was filtered by in four weeks, or is younger.")
    taken = "No file was rewritten for it."
    if layout.seconds_a_day:
        taken = f"It takes {layout.seconds_a_day:,.1f} s of rewrites a day."
    return GiveUp(
        (layout.name,),
        layout.n_bytes,
        layout.seconds_a_day,
        f"{heard.n_scans:,} scans on {heard.n_days} days were recorded, and none of four weeks "
        f"filtered a column of the layout {layout.name}. {taken}",
    )


def _too_few(heard: Heard) -> NoProposal | None:
    if heard.n_scans >= LEAST_SCANS and heard.n_days >= LEAST_DAYS:
        return None
    return NoProposal(
        f"{heard.n_scans} scans on {heard.n_days} days were recorded; {LEAST_SCANS} on "
        f"{LEAST_DAYS} are needed."
    )


def _is_unused(one: Kept, now: datetime) -> bool:
    return one.n_used == 0 and one.since is not None and one.since <= now - UNUSED_FOR
