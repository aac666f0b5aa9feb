"""Reads what a lake's scans read and left out by day, query times, and what advice saved.

Of sums alone: no row of a single table is added up here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import QuerySet, Sum

from optimizer.advice.domain.states import AdviceState
from optimizer.fleet.domain.days import PLANNING, ScannedDay
from optimizer.fleet.domain.savings import Counted, saved_a_day
from optimizer.iceberg.tables.selectors.scans import days_before
from optimizer.models import Advice, QuerySeconds, ScanDay, SkippedDay, UnservedShape
from optimizer.queries.domain.latency import merged, quantile
from portal.access.models import User
from portal.lake.errors import NotAllowed, RuleViolation

PERIODS = (7, 28)
SHOWN_SAVINGS = 200
_COUNTS = ("n_scans", "n_files", "n_bytes", "n_skipped", "skipped_bytes", "n_unsized")


@dataclass(frozen=True, slots=True)
class QueryTimes:
    """How long the queries of an engine took on a day, or on all days of a period."""

    engine: str
    day: date | None
    n_queries: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class Saving:
    """An advice that was applied, with what it saves a day."""

    advice: Advice
    measured_a_day: int | None

    @property
    def expected_a_day(self) -> int:
        """Bytes a day that it was made for."""
        return self.advice.saved_a_day

    @property
    def counts(self) -> bool:
        """Whether it is in the sums: one that was rolled back saves nothing any more."""
        return self.advice.state == AdviceState.APPLIED


@dataclass(frozen=True, slots=True)
class Savings:
    """The newest applied advice of a lake, and the sums of those that still hold."""

    rows: Sequence[Saving]
    has_more: bool

    @property
    def n_measured(self) -> int:
        """Of how many that hold scans since are known."""
        return sum(one.counts and one.measured_a_day is not None for one in self.rows)

    @property
    def n_applied(self) -> int:
        """How many hold."""
        return sum(one.counts for one in self.rows)

    @property
    def expected_a_day(self) -> int:
        """Of those that hold."""
        return sum(one.expected_a_day for one in self.rows if one.counts)

    @property
    def measured_a_day(self) -> int:
        """Of those that hold and are measured."""
        return sum(one.measured_a_day or 0 for one in self.rows if one.counts)


@dataclass(frozen=True, slots=True)
class FleetScans:
    """The scans of a lake in a period."""

    n_days: int
    days: Sequence[ScannedDay]
    """Every day of the period, the oldest first."""
    times: Sequence[QueryTimes]
    """By engine and day, in order; days without a timed query are left out."""
    engines: Sequence[QueryTimes]
    """By engine, of the whole period."""
    savings: Savings
    unserved: Sequence[UnservedShape]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was reported in the period."""
        return not (self.times or any(one.n_scans or one.skipped for one in self.days))

    @property
    def total(self) -> ScannedDay:
        """All days as one."""
        skipped: dict[str, int] = {}
        for one in self.days:
            for cause, n_bytes in one.skipped.items():
                skipped[cause] = skipped.get(cause, 0) + n_bytes
        return ScannedDay(
            self.days[0].day,
            sum(one.n_scans for one in self.days),
            sum(one.n_files for one in self.days),
            sum(one.planned_bytes for one in self.days),
            sum(one.n_skipped for one in self.days),
            sum(one.n_unsized for one in self.days),
            skipped,
        )


def period_of(text: str | None) -> int:
    """Return how many days an address asks for.

    Raises:
        RuleViolation: `fleet.days`.
    """
    if not text:
        return PERIODS[-1]
    if text in map(str, PERIODS):
        return int(text)
    named = " or ".join(map(str, PERIODS))
    raise RuleViolation("fleet.days", f"Give {named} as the days; {text[:40]!r} is neither.")


def fleet_scans(lake: str, user: User, *, n_days: int, now: datetime) -> FleetScans:
    """Return the scans of a whole lake.

    Raises:
        NotAllowed: `fleet.role`.
    """
    if not user.is_lake_staff_of(lake):
        raise NotAllowed(
            "fleet.role",
            "The sums of a whole lake are for admins and operators. What scans did on a table of "
            "yours is on its tabs Scans, Indexes and Cubes.",
        )
    first = days_before(now, n_days)
    histograms = list(
        QuerySeconds.objects.filter(lake=lake, day__gte=first).order_by("engine", "day")
    )
    by_engine: dict[str, list[Mapping[str, int]]] = {}
    for one in histograms:
        by_engine.setdefault(one.engine, []).append(one.counts)
    return FleetScans(
        n_days,
        _days(lake, first, n_days),
        [_times(one.engine, one.day, one.counts) for one in histograms],
        [_times(engine, None, merged(of)) for engine, of in by_engine.items()],
        savings_of(lake, now=now),
        list(unserved_of(lake)),
    )


def savings_of(lake: str, *, now: datetime) -> Savings:
    """Return the advice of a lake that was applied, the last applied first."""
    states = [AdviceState.APPLIED, AdviceState.ROLLED_BACK]
    applied = Advice.objects.filter(table__lake=lake, state__in=states, applied_at__isnull=False)
    rows = applied.filter(gives_up=False)
    newest = rows.select_related("table").defer("evidence").order_by("-applied_at", "-pk")
    found = list(newest[: SHOWN_SAVINGS + 1])
    today = now.astimezone(UTC).date()
    return Savings(
        [Saving(one, _measured(one, today)) for one in found[:SHOWN_SAVINGS]],
        has_more=len(found) > SHOWN_SAVINGS,
    )


def unserved_of(lake: str) -> QuerySet[UnservedShape]:
    """Return the scans that no layout, index or cube serves, those that plan most first."""
    rows = UnservedShape.objects.filter(table__lake=lake, table__is_deleted=False)
    return rows.select_related("table").order_by("-n_bytes", "pk")


def _measured(row: Advice, today: date) -> int | None:
    if row.measured_from is None:
        return None
    counted = Counted(row.n_before, row.bytes_before, row.n_after, row.bytes_after)
    return saved_a_day(counted, since=row.measured_from.astimezone(UTC).date(), today=today)


def _times(engine: str, day: date | None, counts: Mapping[str, int]) -> QueryTimes:
    return QueryTimes(
        engine, day, sum(counts.values()), quantile(counts, 0.5), quantile(counts, 0.95)
    )


def _days(lake: str, first: date, n_days: int) -> list[ScannedDay]:
    of_period = {"lake": lake, "day__gte": first}
    summed = ScanDay.objects.filter(**of_period).order_by().values("day")
    scans: dict[date, Mapping[str, Any]] = {
        one["day"]: dict(one) for one in summed.annotate(**{name: Sum(name) for name in _COUNTS})
    }
    skipped: dict[date, dict[str, int]] = {}
    rows = SkippedDay.objects.filter(**of_period).order_by().values_list("day", "cause")
    for day, cause, n_bytes in rows.annotate(n=Sum("n_bytes")):
        skipped.setdefault(day, {})[cause] = n_bytes
    found = []
    for day in (first + timedelta(days=n) for n in range(n_days)):
        one = scans.get(day) or dict.fromkeys(_COUNTS, 0)
        by_cause = {PLANNING: one["skipped_bytes"], **skipped.get(day, {})}
        found.append(
            ScannedDay(
                day,
                one["n_scans"],
                one["n_files"],
                one["n_bytes"],
                one["n_skipped"],
                one["n_unsized"],
                {cause: n for cause, n in by_cause.items() if n},
            )
        )
    return found
