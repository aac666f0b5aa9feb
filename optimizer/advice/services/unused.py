"""Looks daily for file indexes and cubes that nobody uses, those first that waited longest."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, Sum

from optimizer.advice.domain.give_up import UNUSED_FOR, GiveUp, Heard, decide_give_up
from optimizer.advice.domain.layout_advice import LEAST_SCANS, NoProposal, Traffic, confidence
from optimizer.advice.domain.states import AdviceState
from optimizer.advice.domain.subjects import Subject, text_of
from optimizer.advice.services.proposals import advice_outdate, advice_propose
from optimizer.advice.services.requests import AFTER_NO
from optimizer.advice.services.unused_evidence import (
    cubes_kept,
    indexes_kept,
    is_narrowed,
    readers_report,
)
from optimizer.iceberg.tables.selectors.scans import since
from optimizer.models import IcebergTable
from optimizer.policies.domain.policy import AdviceMode
from optimizer.policies.selectors.policies import LakePolicies, policies_of

TABLES_A_TURN = 50
AGAIN_AFTER = timedelta(days=1)


def unused_find(lake: str, *, now: datetime) -> None:
    """Advise to give up what some tables have and nobody uses; the next turn takes further ones.

    Called again it changes nothing until a table is due again.
    """
    if not readers_report(lake, now=now):
        return
    policies, narrowed = policies_of(lake), is_narrowed(lake, now=now)
    for row in _due(lake, now=now):
        if policies.of(row.db, row.table).policy.advice is not AdviceMode.OFF:
            _look(row, policies, now=now, narrowed=narrowed)
        IcebergTable.objects.filter(pk=row.pk).update(unused_looked_at=now)


def _due(lake: str, *, now: datetime) -> list[IcebergTable]:
    """Return tables that have indexes or cubes, those first that waited longest."""
    waiting = (
        IcebergTable.objects.filter(lake=lake, is_deleted=False, is_paused=False)
        .filter(Q(index_coverage__place=0) | Q(cubes__is_there=True))
        .exclude(unused_looked_at__gt=now - AGAIN_AFTER)
        .distinct()
        .order_by("unused_looked_at", "pk")
    )
    return list(waiting[:TABLES_A_TURN])


def _look(row: IcebergTable, policies: LakePolicies, *, now: datetime, narrowed: bool) -> None:
    days = row.scan_filters.filter(column="", kind="", day__gte=since(now))
    sums = days.aggregate(n=Sum("n_scans"), n_bytes=Sum("n_bytes"))
    n_days = days.values("day").distinct().count()
    traffic = Traffic(sums["n"] or 0, n_days, (sums["n_bytes"] or 0) // max(1, n_days))
    if traffic.n_scans < LEAST_SCANS:
        return
    found = policies.of(row.db, row.table)
    heard = Heard(traffic.n_scans, n_days, readers_report=True)
    of_indexes = replace(heard, is_narrowed=narrowed)
    indexes = indexes_kept(row, found, now=now)
    judged = decide_give_up(indexes, of_indexes, what="file index", now=now)
    if isinstance(judged, NoProposal):
        advice_outdate(row, Subject.INDEXES, gives_up=True, now=now)
    else:
        left = [one for one in found.policy.index_columns if str(one) not in judged.names]
        _advise(row, Subject.INDEXES, text_of(left), judged, traffic, now=now)
    judged = decide_give_up(cubes_kept(row, now=now), heard, what="cube", now=now)
    if isinstance(judged, NoProposal):
        advice_outdate(row, Subject.CUBE, gives_up=True, now=now)
    else:
        # One at a time: each is paused by itself, and comes back by itself.
        _advise(row, Subject.CUBE, judged.names[0], judged, traffic, now=now)


def _advise(
    row: IcebergTable,
    subject: Subject,
    proposed: str,
    judged: GiveUp,
    traffic: Traffic,
    *,
    now: datetime,
) -> None:
    of_subject = row.advice.filter(subject=subject)
    refused = [AdviceState.DISMISSED, AdviceState.ROLLED_BACK]
    if of_subject.filter(gives_up=True, state__in=refused, decided_at__gt=now - AFTER_NO).exists():
        return
    names = judged.names if subject.is_of_policy else judged.names[:1]
    fields: Mapping[str, Any] = {
        "expected": 1.0,
        "bytes_a_day": traffic.bytes_a_day,
        "rewrite_bytes": 0,
        "n_scans": traffic.n_scans,
        "n_days": traffic.n_days,
        "evidence": {
            "reason": judged.reason,
            "confidence": confidence(traffic),
            "columns": list(names),
            "storage_bytes": judged.n_bytes,
            "build_seconds_a_day": judged.seconds_a_day,
            "unused_days": UNUSED_FOR.days,
        },
    }
    advice_propose(row, subject, proposed, fields, gives_up=True, now=now)
