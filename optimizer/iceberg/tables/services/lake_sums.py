"""Adds to a lake's sums of the day: its scans, and what indexes and cubes kept from being read.

Nothing waits for one row: each worker adds to a slot of its own. The rows of a day are made before
a transaction begins, and added to at its end, after the rows of tables: in this order no two
reports wait for each other.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from threading import get_ident
from typing import Any
from zlib import crc32

from django.db.models import F

from optimizer.advice.domain.scan_reports import Scanned
from optimizer.models import IcebergTable, ScanDay, SkippedDay

SLOTS = 8
KEPT_DAYS = 35
_MOST = 2**59
"""Of a slot, and of what is added to it; all slots together are still a number of 63 bits."""


@dataclass(frozen=True, slots=True)
class ScanSums:
    """Some scans; counts as `ScanDay` has them."""

    n_scans: int = 0
    n_files: int = 0
    n_bytes: int = 0
    n_skipped: int = 0
    skipped_bytes: int = 0
    n_unsized: int = 0

    def __add__(self, other: "ScanSums") -> "ScanSums":
        """Add them up."""
        names = [one.name for one in fields(self)]
        return ScanSums(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True, slots=True)
class Skipped:
    """What an index of one kind, or a cube, kept from being read."""

    cause: str
    n_times: int
    n_files: int
    n_bytes: int


def sums_of(row: IcebergTable, scanned: Scanned) -> ScanSums:
    """Return one scan as sums.

    No engine tells the bytes of files that planning left out: the mean size of the table's files
    stands for each.
    """
    n_skipped = scanned.n_skipped
    is_sized = bool(row.n_files) and row.n_bytes is not None
    mean = (row.n_bytes or 0) / row.n_files if is_sized and row.n_files else 0.0
    return ScanSums(
        1,
        scanned.n_files,
        scanned.n_bytes,
        n_skipped,
        skipped_bytes=int(n_skipped * mean),
        n_unsized=0 if is_sized else n_skipped,
    )


def scans_ready(lake: str, *, now: datetime) -> None:
    """Make today's rows of a lake where they are not there; to be called outside a transaction.

    Within one, the first two reports of a day could each wait for what the other has made.
    """
    today = now.astimezone(UTC).date()
    if not ScanDay.objects.filter(lake=lake, day=today, slot=SLOTS - 1).exists():
        rows = [ScanDay(lake=lake, day=today, slot=slot) for slot in range(SLOTS)]
        ScanDay.objects.bulk_create(rows, ignore_conflicts=True)
        ScanDay.objects.filter(lake=lake, day__lt=today - timedelta(days=KEPT_DAYS)).delete()


def skips_ready(lake: str, causes: Iterable[str], *, now: datetime) -> None:
    """Make today's rows of some causes as `scans_ready` does."""
    today, wanted = now.astimezone(UTC).date(), sorted(set(causes))
    if not wanted:
        return
    last = SkippedDay.objects.filter(lake=lake, day=today, slot=SLOTS - 1, cause__in=wanted)
    there = set(last.values_list("cause", flat=True))
    if new := [one for one in wanted if one not in there]:
        SkippedDay.objects.bulk_create(
            [
                SkippedDay(lake=lake, day=today, cause=cause, slot=slot)
                for cause in new
                for slot in range(SLOTS)
            ],
            ignore_conflicts=True,
        )
        SkippedDay.objects.filter(lake=lake, day__lt=today - timedelta(days=KEPT_DAYS)).delete()


def scans_add(lake: str, sums: ScanSums, *, now: datetime) -> None:
    """Add scans to today's sums, at the end of the transaction that took their report.

    Called twice they are counted twice.
    """
    if sums.n_scans:
        today = ScanDay.objects.filter(lake=lake, day=now.astimezone(UTC).date(), slot=_slot())
        today.filter(**{f"{one.name}__lt": _MOST for one in fields(sums)}).update(**_added(sums))


def skips_add(lake: str, skips: Iterable[Skipped], *, now: datetime) -> None:
    """Add what was not read to today's sums, at the end of the transaction that took the report.

    Called twice it is counted twice.
    """
    by_cause: dict[str, Skipped] = {}
    for one in skips:
        known = by_cause.get(one.cause, Skipped(one.cause, 0, 0, 0))
        by_cause[one.cause] = Skipped(
            one.cause,
            known.n_times + one.n_times,
            known.n_files + one.n_files,
            known.n_bytes + one.n_bytes,
        )
    key = {"lake": lake, "day": now.astimezone(UTC).date(), "slot": _slot()}
    # In one order everywhere, so that two reports that share a slot wait and do not meet.
    for cause in sorted(by_cause):
        rows = SkippedDay.objects.filter(**key, cause=cause)
        rows.filter(n_bytes__lt=_MOST, n_files__lt=_MOST).update(**_added(by_cause[cause]))


def _added(sums: ScanSums | Skipped) -> dict[str, Any]:
    """Return what is added; an engine that lies makes no sum that the database cannot hold."""
    counts = {one.name: getattr(sums, one.name) for one in fields(sums) if one.name != "cause"}
    return {name: F(name) + min(n, _MOST) for name, n in counts.items() if n}


def _slot() -> int:
    """Return the slot of this worker: one for each process and thread."""
    return crc32(f"{os.getpid()}.{get_ident()}".encode()) % SLOTS
