"""Looks daily for layouts, file indexes and cubes that nobody uses, the longest waiting first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Sum

from optimizer.advice.domain.give_up import (
    UNUSED_FOR,
    GiveUp,
    Heard,
    decide_give_up,
    decide_layout_give_up,
)
from optimizer.advice.domain.layout_advice import LEAST_SCANS, NoProposal, Traffic, confidence
from optimizer.advice.domain.states import AdviceState
from optimizer.advice.domain.subjects import Subject, text_of
from optimizer.advice.services.proposals import advice_outdate, advice_propose
from optimizer.advice.services.requests import AFTER_NO
from optimizer.advice.services.unused_evidence import (
    cubes_kept,
    indexes_kept,
    is_cut,
    is_narrowed,
    is_overwritten,
    layout_kept,
    readers_report,
)
from optimizer.iceberg.rewrite.domain.layouts import NO_LAYOUT
from optimizer.iceberg.tables.selectors.scans import since
from optimizer.models import Cube, IcebergTable, IndexCoverage
from optimizer.policies.domain.policy import AdviceMode, contradiction
from optimizer.policies.selectors.policies import TablePolicy, policies_of

TABLES_A_TURN = 50
WALKED_A_TURN = 2_000
"""Tables of which a turn asks whether they have anything to give up; most have nothing."""
AGAIN_AFTER = timedelta(days=1)


def unused_find(lake: str, *, now: datetime) -> None:
    """Advise to give up what some tables have and nobody uses; the next turn takes further ones.

    Called again it changes nothing until a table is due again.
    """
    policies = policies_of(lake)
    heard = Heard(0, 0, readers_report(lake, now=now), is_narrowed=is_narrowed(lake, now=now))
    due = _due(lake, now=now)
    have = _with_indexes_or_cubes(due)
    walked, n_looked = [], 0
    for row in due:
        walked.append(row.pk)
        found = policies.of(row.db, row.table)
        if found.policy.advice is AdviceMode.OFF:
            continue
        if row.pk in have or found.policy.layout:
            _look(row, found, heard, now=now)
            n_looked += 1
        if n_looked == TABLES_A_TURN:
            break
    IcebergTable.objects.filter(pk__in=walked).update(unused_looked_at=now)


def _due(lake: str, *, now: datetime) -> list[IcebergTable]:
    """Return tables that wait, those first that waited longest."""
    waiting = IcebergTable.objects.filter(lake=lake, is_deleted=False, is_paused=False)
    waiting = waiting.exclude(unused_looked_at__gt=now - AGAIN_AFTER)
    return list(waiting.order_by("unused_looked_at", "pk")[:WALKED_A_TURN])


def _with_indexes_or_cubes(rows: Sequence[IcebergTable]) -> set[int]:
    built = IndexCoverage.objects.filter(table__in=rows, place=0)
    there = Cube.objects.filter(table__in=rows, is_there=True)
    return {*built.values_list("table", flat=True), *there.values_list("table", flat=True)}


def _look(row: IcebergTable, found: TablePolicy, lake_heard: Heard, *, now: datetime) -> None:
    days = row.scan_filters.filter(column="", kind="", day__gte=since(now))
    sums = days.aggregate(n=Sum("n_scans"), n_bytes=Sum("n_bytes"))
    n_days = days.values("day").distinct().count()
    traffic = Traffic(sums["n"] or 0, n_days, (sums["n_bytes"] or 0) // max(1, n_days))
    if traffic.n_scans < LEAST_SCANS:
        return
    heard = replace(lake_heard, n_scans=traffic.n_scans, n_days=n_days)
    _look_at_layout(row, found, heard, traffic, now=now)
    if not heard.readers_report:
        return
    judged = decide_give_up(indexes_kept(row, found, now=now), heard, what="file index", now=now)
    if isinstance(judged, NoProposal):
        advice_outdate(row, Subject.INDEXES, gives_up=True, now=now)
    else:
        left = [one for one in found.policy.index_columns if str(one) not in judged.names]
        _advise(row, Subject.INDEXES, text_of(left), judged, traffic, now=now)
    of_cubes = replace(heard, is_narrowed=False)
    judged = decide_give_up(cubes_kept(row, now=now), of_cubes, what="cube", now=now)
    if isinstance(judged, NoProposal):
        advice_outdate(row, Subject.CUBE, gives_up=True, now=now)
    else:
        # One at a time: each is paused by itself, and comes back by itself.
        _advise(row, Subject.CUBE, judged.names[0], judged, traffic, now=now)


def _look_at_layout(
    row: IcebergTable, found: TablePolicy, heard: Heard, traffic: Traffic, *, now: datetime
) -> None:
    kept = layout_kept(row, found, now=now)
    if kept is None or contradiction(replace(found.policy, layout=NO_LAYOUT)):
        advice_outdate(row, Subject.LAYOUT, gives_up=True, now=now)
        return
    told = replace(heard, is_overwritten=is_overwritten(row, now=now), is_cut=is_cut(row, now=now))
    judged = decide_layout_give_up(kept, told, now=now)
    if isinstance(judged, NoProposal):
        advice_outdate(row, Subject.LAYOUT, gives_up=True, now=now)
    else:
        _advise(row, Subject.LAYOUT, "", judged, traffic, now=now)


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
