"""Asks for refreshes, and says what the program that refreshes has to do."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Q

from pipelines.materialized.domain.costs import Past
from pipelines.materialized.domain.messages import Order, Request
from pipelines.materialized.domain.planner import Way
from pipelines.materialized.services.definitions import definition_read
from pipelines.materialized.services.rights import check_place, check_sources, location_of
from pipelines.models import Materialization
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, PortalError, RuleViolation
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "pipelines.materialize"
SCHEDULE = "schedule"
MOST_AT_ONCE = 50
_MOST_PAST = 20


def refresh_request(row: Materialization, *, is_full: bool, by: str, now: datetime) -> Run:
    """Ask for a refresh now; while one that was asked for waits or runs, that one is returned."""
    with transaction.atomic():
        known = Materialization.objects.select_for_update().get(pk=row.pk)
        running = open_run_of(known)
        if running is not None:
            return running
        return run_request(
            KIND,
            lake=known.lake,
            params={"ids": [known.pk], "is_full": is_full},
            requested_by=by,
            subject=("table", str(known)),
            now=now,
        )


def open_run_of(row: Materialization) -> Run | None:
    """Return the refresh that somebody asked for and that has not ended."""
    rows = Run.objects.filter(lake=row.lake, kind=KIND, finished_at=None)
    return rows.filter(subject_type="table", subject_id=str(row)).first()


def run_under_way(row: Materialization) -> Run | None:
    """Return the run that refreshes it now or next: one that was asked for, else the schedule's."""
    asked = open_run_of(row)
    if asked is not None:
        return asked
    rows = Run.objects.filter(lake=row.lake, kind=KIND, finished_at=None, requested_by=SCHEDULE)
    return next((one for one in rows if row.pk in one.params["ids"]), None)


def refreshes_due(lake: str, *, now: datetime) -> int:
    """Ask for one run of all that are due; returns how many they are.

    While one by schedule waits or runs, what is due stays so.
    """
    if Run.objects.filter(lake=lake, kind=KIND, requested_by=SCHEDULE, finished_at=None).exists():
        return 0
    with transaction.atomic():
        due = Materialization.objects.select_for_update().filter(
            lake=lake, is_paused=False, next_at__lte=now
        )
        rows = list(due.order_by("next_at", "pk")[:MOST_AT_ONCE])
        if not rows:
            return 0
        for row in rows:
            row.next_at = now + timedelta(minutes=row.every_minutes)
            row.earliest_at = now + timedelta(minutes=row.pause_minutes)
        Materialization.objects.bulk_update(rows, ["next_at", "earliest_at"])
        params = {"ids": [row.pk for row in rows], "is_full": False}
        run_request(
            KIND, lake=lake, params=params, requested_by=SCHEDULE, subject=("", ""), now=now
        )
    return len(rows)


def earlier_run(run: Run) -> Run | None:
    """Return a run that refreshes in the same lake and came first: one writes at a time."""
    rows = Run.objects.filter(lake=run.lake, kind=KIND, finished_at=None).exclude(pk=run.pk)
    first = Q(queued_at__lt=run.queued_at) | Q(queued_at=run.queued_at, pk__lt=run.pk)
    return rows.filter(first).first()


def request_of(run: Run) -> dict[str, Any]:
    """Return the request of a run as plain values; what may not be refreshed is left out.

    Why it may not stands at its row.

    Raises:
        ExternalFailure: the metastore does not answer.
    """
    rows = Materialization.objects.filter(lake=run.lake, pk__in=run.params["ids"]).order_by("pk")
    orders = []
    with Metastore.connect(get_lake(run.lake)) as metastore:
        for row in rows:
            try:
                orders.append(_order(row, metastore, is_full=bool(run.params.get("is_full"))))
            except ExternalFailure:
                raise
            except PortalError as error:
                Materialization.objects.filter(pk=row.pk).update(
                    problem=error.message, problem_code=error.code, tried_at=run.queued_at
                )
    plain: dict[str, Any] = msgspec.to_builtins(Request(tuple(orders)))
    return plain


def _order(row: Materialization, metastore: Metastore, *, is_full: bool) -> Order:
    owner = User.objects.filter(username=row.owner, is_active=True).first()
    if owner is None:
        raise RuleViolation(
            "materialized.owner",
            f"It is read by the rights of {row.owner}, who has no account any more. Change it, and "
            "it is read by yours.",
        )
    definition = definition_read(row.sql)
    check_sources(metastore, row.hive.lake, definition, user=owner)
    location_of(metastore, row.hive, user=owner)
    check_place(metastore, row.hive, definition, location=row.location)
    return Order(
        id=row.pk,
        sql=row.sql,
        db=row.db,
        table=row.table,
        location=row.location,
        owner=str(row.identity),
        version=row.version,
        is_full=is_full,
        past=_past(row),
    )


def _past(row: Materialization) -> tuple[Past, ...]:
    """Return what the newest refreshes took, without those that tried changes and gave up."""
    rows = row.refreshes.filter(state="done", way__in=[Way.FULL, Way.INCREMENTAL])
    tried = rows.exclude(way=Way.FULL, n_changed_groups__gt=0).order_by("-ended_at", "-pk")
    return tuple(
        Past(one.way == Way.FULL, one.seconds, one.changed_bytes, one.all_bytes)
        for one in tried[:_MOST_PAST]
    )
