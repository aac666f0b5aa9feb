"""Chooses tables to inspect without a reported change, and detects what an inspection shows.

Writers such as Spark overwrite files without a word to the metastore. So the files of hot tables
are looked at from time to time: often while a table changes, seldom when it has been quiet.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from refresh.changes.domain.changes import PartitionChange

_QUIET_PER_LOOK = 12


@dataclass(frozen=True, slots=True)
class SweepLimits:
    """How much a turn may look at; `newest` and `changed` are partitions of one table.

    `page`: how many tables at rest are passed in a turn.
    """

    hot_for: timedelta = timedelta(days=7)
    shortest: timedelta = timedelta(minutes=5)
    longest: timedelta = timedelta(hours=6)
    tables: int = 20
    directories: int = 400
    newest: int = 20
    changed: int = 40
    page: int = 200


@dataclass(frozen=True, slots=True)
class Stamp:
    """What shows that files changed, by one listing of their directory.

    `newest_ms` counts the subdirectories too: a file that comes or goes changes them.
    """

    n_files: int = 0
    n_bytes: int = 0
    newest_ms: int = 0


@dataclass(frozen=True, slots=True)
class Hot:
    """A table: when it last changed or was refreshed, and when it was last looked at."""

    key: int
    active_at: datetime
    inspected_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What the last look left: stamps by partition, and from which name on it knew all of them."""

    stamps: Mapping[str, Stamp]
    scanned_from: str | None = None


def interval(quiet_for: timedelta, *, limits: SweepLimits) -> timedelta:
    """Say how long to wait between two looks at a table that has been quiet for so long."""
    return min(max(quiet_for / _QUIET_PER_LOOK, limits.shortest), limits.longest)


def due(tables: Iterable[Hot], *, now: datetime, limits: SweepLimits) -> list[int]:
    """Choose what is looked at in this turn: hot and due, the most recently active first."""
    found = [one for one in tables if _is_due(one, now=now, limits=limits)]
    found.sort(key=lambda one: one.active_at, reverse=True)
    return [one.key for one in found[: limits.tables]]


def chosen(
    names: Sequence[str], lately: Sequence[str], *, limits: SweepLimits
) -> tuple[list[str], str]:
    """Choose the partitions to look at, and say from which name on these are all.

    The newest by name, and those of `lately` (latest first) that exist: backfills rewrite old ones.
    """
    newest = sorted(names)[-limits.newest :]
    there = set(names)
    old = [name for name in dict.fromkeys(lately) if name in there and name not in newest]
    scanned_from = newest[0] if len(newest) < len(there) else ""
    return sorted([*newest, *old[: limits.changed]]), scanned_from


def changed(
    known: Known, seen: Mapping[str, Stamp], *, existing: Iterable[str]
) -> dict[str, PartitionChange]:
    """Say what changed since the last look; what is seen for the first time did only come.

    A name counts as added only where the last look knew all names, and so knew that it was not
    there. Without a last look nothing is concluded.
    """
    if known.scanned_from is None:
        return {}
    there = set(existing)
    found = dict.fromkeys(known.stamps.keys() - there, PartitionChange.DROPPED)
    for name, stamp in seen.items():
        before = known.stamps.get(name)
        if before is None and name >= known.scanned_from:
            found[name] = PartitionChange.ADDED
        elif before is not None and before != stamp:
            found[name] = PartitionChange.UPDATED
    return found


def _is_due(one: Hot, *, now: datetime, limits: SweepLimits) -> bool:
    quiet_for = now - one.active_at
    if quiet_for > limits.hot_for:
        return False
    return one.inspected_at is None or now - one.inspected_at >= interval(quiet_for, limits=limits)
