"""Executes a policy request and records what was done.

Runs in a worker. What stood on the page is compared with the metastore once more; what others
changed meanwhile ends the request with that said, and nothing is written. Safe to repeat.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from lifecycle.models import DatabaseFinding, LatestScan, PolicyRequest, PolicySnapshot
from lifecycle.policies.domain.policy import Values, falls_due_sooner
from lifecycle.policies.domain.states import RequestKind, RequestState
from lifecycle.policies.services.metastore import (
    Standing,
    database_set,
    database_standing,
    table_give,
    table_set,
    table_standing,
)
from lifecycle.policies.services.request_params import check_written_to
from lifecycle.policies.services.requests import APPROVAL_KIND, request_digest, request_move
from portal.access.lakes import get_lake
from portal.approvals.services import approval_check, approval_use
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, NotVisible, PortalError, StaleState
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_state


def policy_apply(request: PolicyRequest, run: Run, *, now: datetime) -> dict[str, Any]:
    """Carry out one running request; one that may not be carried out ends as FAILED and says why.

    Raises:
        ExternalFailure: the metastore is away; the run is tried again.
    """
    if request.state != RequestState.RUNNING:
        return {"state": request.state}
    try:
        _check_may_run(request, run, now=now)
        with Metastore.connect(get_lake(request.lake)) as metastore:
            after = _write(request, metastore)
    except ExternalFailure as error:
        if error.retryable:
            raise
        return request_fail(request, error.as_dict(), now=now)
    except PortalError as error:
        return request_fail(request, error.as_dict(), now=now)
    with transaction.atomic():
        policy_seen_store(request.lake, request.db, request.table, after, now=now)
        request_move(request, RequestState.DONE, now=now)
        _record(request, after, run=run, now=now)
    return {"state": request.state}


def request_fail(
    request: PolicyRequest, error: Mapping[str, Any], *, now: datetime
) -> dict[str, Any]:
    """End a running request that could not be carried out; one that has ended stays as it is."""
    if request.state == RequestState.RUNNING:
        with transaction.atomic():
            note = str(error.get("message") or "The run did not end well.")
            request_move(request, RequestState.FAILED, reason=note, now=now)
    return {"state": request.state, "code": error.get("code"), "message": error.get("message")}


def policies_look(lake: str, *, db: str, table: str, now: datetime) -> dict[str, Any]:
    """Read what stands on one table or database, or (`db` empty) on every database of the lake."""
    current = LatestScan.objects.filter(lake=lake).values("generation_id")
    known = DatabaseFinding.objects.filter(generation_id__in=current)
    databases = [db] if db else list(known.order_by("db").values_list("db", flat=True))
    config = get_lake(lake)
    with Metastore.connect(config) as metastore:
        if table:
            found = table_standing(metastore, TableName(config.lake, db, table))
            policy_seen_store(lake, db, table, found, now=now)
            return {"n": 1}
        n_read = sum(_look(metastore, lake, name, now=now) for name in databases)
    return {"n": n_read}


def _look(metastore: Metastore, lake: str, db: str, *, now: datetime) -> bool:
    """Read one database; what was dropped since the scan is forgotten."""
    try:
        policy_seen_store(lake, db, "", database_standing(metastore, db), now=now)
    except NotVisible:
        PolicySnapshot.objects.filter(lake=lake, db=db).delete()
        return False
    return True


def policy_seen_store(lake: str, db: str, table: str, standing: Standing, *, now: datetime) -> None:
    """Remember what stood in the metastore when it was read or written."""
    PolicySnapshot.objects.update_or_create(
        lake=lake,
        db=db,
        table=table,
        defaults={
            "level": standing.values.level,
            "ttl": standing.values.ttl,
            "problem": standing.problem,
            "owner": standing.owner,
            "seen_at": now,
        },
    )


def values_json(values: Values) -> dict[str, int | None]:
    """Return values as events keep them."""
    return {"level": values.level, "ttl": values.ttl}


def _check_may_run(request: PolicyRequest, run: Run, *, now: datetime) -> None:
    """Ask once more: approved as it is, in a database that is written to, no emergency stop."""
    check_written_to(request.lake, request.db)
    if request.digest != request_digest(request):
        raise StaleState("policy_request.changed", "The request is not what was asked for.")
    if request.approval_id is not None:
        approval_check(
            APPROVAL_KIND,
            object_id=str(request.pk),
            digest=request.digest,
            now=now,
            run_id=str(run.pk),
        )
        approval_use(request.approval_id, run_id=str(run.pk), now=now)
    if falls_due_sooner(request.seen, request.wanted) and emergency_stop_state(request.lake):
        raise StaleState(
            "red_button.on",
            "The emergency stop is on: nothing is made due sooner. Ask again later.",
        )


def _write(request: PolicyRequest, metastore: Metastore) -> Standing:
    """Write what is asked; returns what stands afterwards."""
    if not request.table:
        database_set(metastore, request.db, seen=request.seen, wanted=request.wanted)
        return database_standing(metastore, request.db)
    name = TableName(get_lake(request.lake).lake, request.db, request.table)
    if request.kind == RequestKind.HAND_OVER:
        table_give(metastore, name, seen=request.seen_owner, owner=request.owner)
    else:
        table_set(metastore, name, seen=request.seen, wanted=request.wanted)
    return table_standing(metastore, name)


def _record(request: PolicyRequest, after: Standing, *, run: Run, now: datetime) -> None:
    """Record who asked, who agreed, from what to what; the person who asked is the actor."""
    told = {
        "reason": request.reason,
        "request": str(request.pk),
        "decided_by": request.decided_by,
        "run": str(run.pk),
    }
    # What was seen is from where it came, also when the first try died after its write.
    change: dict[str, object] = {
        "from": values_json(request.seen),
        "to": values_json(after.values),
    }
    if request.kind == RequestKind.HAND_OVER:
        change = {"from": {"owner": request.seen_owner}, "to": {"owner": after.owner}}
    audit_record(
        "owner.changed" if request.kind == RequestKind.HAND_OVER else "policy.changed",
        actor=request.requested_by,
        lake=request.lake,
        object_type="table" if request.table else "database",
        object_id=f"{request.db}.{request.table}" if request.table else request.db,
        data={**change, "through": "portal", **told},
        now=now,
    )
