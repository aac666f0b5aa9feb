"""Makes advice on materializations from the log of queries, confirms it, and outdates the rest."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import Q

from pipelines.materialized.domain.advising import (
    AFTER_NO,
    UNUSED_FOR,
    WINDOW_DAYS,
    AdviceState,
    worth_of,
)
from pipelines.materialized.domain.definition import read_definition
from pipelines.materialized.domain.refusals import Refused
from pipelines.models import Materialization, MaterializationAdvice, MaterializationDay
from portal.catalog.domain.repeated_queries import RepeatedQueries
from portal.catalog.services.stored_aggregates import query_logs

TURN_WITHIN = timedelta(days=2)
"""In which a log has looked at every table of which it might tell."""
MOST_UNUSED = 50
"""Materializations that a turn advises to pause, those that cost most first."""


def advice_find(lake: str, *, now: datetime) -> int:
    """Make or confirm advice on a lake, and outdate what nothing speaks for; returns how many are.

    Called again at any time; what was decided is left alone.
    """
    kept = _kept(lake)
    found, looked_at = set[int](), set[str]()
    for log in query_logs():
        for table, queries in log.repeated(lake, kept, now=now):
            looked_at.add(table)
            found |= _pks(_advised(lake, one, now=now) for one in queries)
    unread = _pks(_given_up(row, now=now) for row in _unused(lake, now=now))
    _outdate(lake, found | unread, looked_at, now=now)
    return len(found | unread)


def _pks(advice: Iterable[MaterializationAdvice | None]) -> set[int]:
    return {one.pk for one in advice if one is not None}


def _outdate(
    lake: str, found: Collection[int], looked_at: Collection[str], *, now: datetime
) -> None:
    """Outdate new advice on tables that were looked at, or have had no turn for days."""
    left = MaterializationAdvice.objects.filter(lake=lake, state=AdviceState.NEW)
    silent = [
        one.pk
        for one in left.exclude(pk__in=found)
        if one.gives_up or one.facts in looked_at or one.confirmed_at < now - TURN_WITHIN
    ]
    left.filter(pk__in=silent).update(state=AdviceState.OUTDATED, is_open=None, decided_at=now)


def _kept(lake: str) -> Mapping[str, Sequence[str]]:
    """Return the definitions that there are, also of paused ones, by their table of facts."""
    kept: defaultdict[str, list[str]] = defaultdict(list)
    rows = Materialization.objects.filter(lake=lake).order_by("pk")
    for source, sql in rows.values_list("source", "sql"):
        kept[source].append(sql)
    return kept


def _advised(lake: str, queries: RepeatedQueries, *, now: datetime) -> MaterializationAdvice | None:
    worth = worth_of(queries)
    if worth.why_not or not _can_be_defined(queries.sql):
        return None
    db, _, table = queries.table.partition(".")
    return _made(
        {"lake": lake, "db": db, "table": table, "gives_up": False},
        queries.sql,
        {
            "name": f"{db}.{queries.name}",
            "reason": worth.reason,
            "n_queries": queries.n_queries,
            "n_days": queries.n_days,
            "n_bytes": queries.n_bytes,
            "seconds": queries.seconds,
            "groupings": [asdict(one) for one in queries.groupings],
        },
        now=now,
    )


def _can_be_defined(sql: str) -> bool:
    try:
        read_definition(sql)
    except Refused:
        return False
    return True


def _unused(lake: str, *, now: datetime) -> list[Materialization]:
    """Return what is refreshed, and what no query was answered from or read for weeks.

    While no log hears of any query, silence says nothing.
    """
    since = _day(now - UNUSED_FOR)
    if not any(one.hears(lake, since=since) for one in query_logs()):
        return []
    used = MaterializationDay.objects.filter(Q(n_answers__gt=0) | Q(n_reads__gt=0), day__gte=since)
    old = Materialization.objects.filter(
        lake=lake, is_paused=False, fresh_at__isnull=False, set_at__lt=now - UNUSED_FOR
    ).exclude(pk__in=used.values("materialization"))
    return list(old.order_by("-seconds", "pk")[:MOST_UNUSED])


def _given_up(row: Materialization, *, now: datetime) -> MaterializationAdvice | None:
    db, _, table = row.source.partition(".")
    return _made(
        {"lake": row.lake, "db": db, "table": table, "gives_up": True},
        f"{row}: {row.sql}",
        {
            "materialization": row,
            "name": str(row),
            "reason": f"No query of Spark was answered from it or read it in {UNUSED_FOR.days} "
            "days, nor one of the page or the API, and it goes on being refreshed. Queries of "
            "Trino over Hudi tables are not heard of: ask who might send some. Paused, it stays "
            "as it is, and can be resumed.",
            "n_queries": 0,
            "n_days": WINDOW_DAYS,
            "n_bytes": 0,
        },
        now=now,
    )


@transaction.atomic
def _made(
    about: Mapping[str, Any], sql: str, said: Mapping[str, Any], *, now: datetime
) -> MaterializationAdvice | None:
    """Make an advice or confirm the one that is open; None where a person said no lately."""
    digest = sha256(sql.encode()).hexdigest()
    rows = MaterializationAdvice.objects.filter(**about, digest=digest)
    no = [AdviceState.DISMISSED, AdviceState.ROLLED_BACK]
    if rows.filter(state__in=no, decided_at__gt=now - AFTER_NO).exists():
        return None
    known = rows.select_for_update().filter(is_open=True).first()
    if known is None:
        shown = "" if about["gives_up"] else sql
        return MaterializationAdvice.objects.create(
            **about, **said, sql=shown, digest=digest, made_at=now, confirmed_at=now
        )
    if known.state == AdviceState.NEW:
        MaterializationAdvice.objects.filter(pk=known.pk).update(**said, confirmed_at=now)
    return known


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date() + timedelta(days=1)
