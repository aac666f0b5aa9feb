"""Reads what OBSERVE would have dropped in a database, and how much was used again afterwards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import Max, Min, Sum

from lifecycle.models import DryRunRecord, DryRunTable

TABLES_SHOWN = 100


@dataclass(frozen=True, slots=True)
class DryRun:
    """A database's record in one look: what would have gone, and what of it was used again."""

    n_days: int
    since: date | None
    until: date | None
    n_gone: int
    n_bytes_gone: int
    n_written: int
    n_read: int
    n_bytes_used: int

    @property
    def n_used(self) -> int:
        """How often dropping would have hurt somebody."""
        return self.n_written + self.n_read

    @property
    def percent_used(self) -> float | None:
        """Which share of what would have gone was used again; None where nothing would have."""
        return 100 * self.n_used / self.n_gone if self.n_gone else None

    @property
    def tone(self) -> str:
        """How the share looks: nothing used is good, anything used is a warning."""
        if not self.n_gone:
            return ""
        return "bad" if self.n_used * 20 > self.n_gone else "warn" if self.n_used else "good"


def dry_run_of(lake: str, db: str) -> list[DryRunRecord]:
    """Return the OBSERVE record of a database, oldest day first."""
    return list(DryRunRecord.objects.filter(lake=lake, db=db).order_by("day"))


def dry_run_summary(records: Sequence[DryRunRecord]) -> DryRun:
    """Add the days of a database up; what fell due, was used and fell due again counts twice."""
    return DryRun(
        n_days=len(records),
        since=records[0].day if records else None,
        until=records[-1].day if records else None,
        n_gone=sum(one.n_new for one in records),
        n_bytes_gone=sum(one.n_bytes_new for one in records),
        n_written=sum(one.n_written_again for one in records),
        n_read=sum(one.n_read_again for one in records),
        n_bytes_used=sum(one.n_bytes_again for one in records),
    )


def dry_run_tables(lake: str, db: str, *, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield what each table of a database adds up to; those used again most stand first."""
    rows = (
        DryRunTable.objects.filter(lake=lake, db=db)
        .order_by()
        .values("db", "table")
        .annotate(
            gone=Sum("n_new"),
            bytes_gone=Sum("n_bytes_new"),
            written=Sum("n_written_again"),
            read=Sum("n_read_again"),
            first=Min("day"),
            last=Max("day"),
            used=Sum("n_written_again") + Sum("n_read_again"),
        )
        .order_by("-used", "-bytes_gone", "table")
    )
    for row in rows[:limit].iterator(chunk_size=2_000):
        yield dict(row)
