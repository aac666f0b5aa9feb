"""Updates expected partitions when somebody has just reported partitions as ready or not.

Where a partition's name tells its whole period, the period's row is written at once, with the very
instant. Where a period has several partitions, the table is looked at next, because all must be
ready. Said twice it writes the same.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from portal.access.lakes import get_lake
from portal.lake.names import PartitionName, TableName
from quality.freshness.domain.cadence import Period
from quality.models import ExpectedPartition, FreshnessRule, FreshnessStatus


def arrivals_note(
    hive: TableName,
    names: Sequence[str],
    *,
    keys: tuple[str, ...],
    ready: bool,
    by: str,
    now: datetime,
) -> None:
    """Note that partitions were said to be ready, or not; no names: something went wrong."""
    rule = FreshnessRule.objects.filter(lake=str(hive.lake), db=hive.db, table=hive.table).first()
    if rule is None:
        return
    FreshnessRule.objects.filter(pk=rule.pk).update(look_at=now)
    periods = _periods(rule, names)
    is_whole = set(keys) == {rule.time_key, rule.hour_key} - {""}
    with transaction.atomic():
        if not ready:
            _take_back(rule, periods, by=by, now=now)
        elif is_whole:
            for period in periods:
                _arrive(rule, period, by=by, now=now)


def _periods(rule: FreshnessRule, names: Sequence[str]) -> list[Period]:
    cadence = rule.cadence(get_lake(rule.lake).zone)
    found = {}
    for name in names:
        leaf = PartitionName.parse(name)
        period = cadence.period_of(dict(zip(leaf.keys, leaf.values, strict=True)))
        if period is not None and period.start >= rule.set_at - cadence.step:
            found[period.start] = period
    return list(found.values())


def _arrive(rule: FreshnessRule, period: Period, *, by: str, now: datetime) -> None:
    row, _ = ExpectedPartition.objects.get_or_create(
        rule=rule, start=period.start, defaults=fresh(rule, period)
    )
    ExpectedPartition.objects.filter(pk=row.pk).exclude(standing=FreshnessStatus.READY).update(
        standing=FreshnessStatus.READY,
        ready_at=now,
        ready_by=by,
        came_late=row.due_at is not None and now > row.due_at,
        reason=f"{by} said that it is ready.",
        seen_at=now,
        is_held=False,
    )


def _take_back(rule: FreshnessRule, periods: Sequence[Period], *, by: str, now: datetime) -> None:
    """What was ready and is said not to be any more is nobody's but theirs who said so."""
    rows = rule.expected.filter(
        start__in=[one.start for one in periods], standing=FreshnessStatus.READY
    )
    rows.update(
        standing=FreshnessStatus.UNREADY,
        ready_at=None,
        ready_by="",
        came_late=False,
        reason=f"{by} said that it is not ready any more; no rule says otherwise.",
        seen_at=now,
        is_held=True,
    )


def fresh(rule: FreshnessRule, period: Period) -> dict[str, object]:
    """Return what a new row of a period holds."""
    return {
        "lake": rule.lake,
        "spec": period.spec,
        "end": period.end,
        "due_at": rule.due_at(period.end),
    }
