"""Says how a table was filtered lately, as engines reported their scans."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import Max, Sum

from optimizer.models import IcebergTable

SHOWN_DAYS = 28


@dataclass(frozen=True, slots=True)
class FilterUse:
    """Scans that filtered a column in one way; all scans where column and kind are empty."""

    column: str
    kind: str
    n_scans: int
    n_files: int
    n_skipped: int
    n_bytes: int
    last_at: datetime

    @property
    def skipped_percent(self) -> float | None:
        """How much of the files of these scans planning left out; None where there were none."""
        whole = self.n_files + self.n_skipped
        return 100 * self.n_skipped / whole if whole else None


def since(now: datetime) -> date:
    """Return the first day of those that are shown."""
    return days_before(now, SHOWN_DAYS)


def days_before(now: datetime, n_days: int) -> date:
    """Return the first of so many days, of which today is the last."""
    return now.astimezone(UTC).date() - timedelta(days=n_days - 1)


def scans_lately(row: IcebergTable, *, now: datetime) -> list[FilterUse]:
    """Return the sums of four weeks: all scans first, then by how often a filter came."""
    summed = (
        row.scan_filters.filter(day__gte=since(now))
        .order_by()
        .values("column", "kind")
        .annotate(
            n_scans=Sum("n_scans"),
            n_files=Sum("n_files"),
            n_skipped=Sum("n_skipped"),
            n_bytes=Sum("n_bytes"),
            last_at=Max("last_at"),
        )
    )
    found = [FilterUse(**one) for one in summed]
    return sorted(found, key=lambda one: (one.column != "", -one.n_scans, one.column, one.kind))
