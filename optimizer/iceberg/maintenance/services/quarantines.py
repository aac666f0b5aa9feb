"""Brings files back from quarantine, and has those deleted whose days are over.

Whoever answers for a table may bring its files back: a file is renamed to where it was, never over
another. What is deleted was on a list that people approved, with the number of days.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.maintenance.domain.quarantine import QuarantineState
from optimizer.iceberg.maintenance.services.quarantine_places import (
    QUARANTINE_OF,
    OpenedQuarantine,
    quarantine_make,
)
from optimizer.models import Quarantine, RemovalPlan
from optimizer.policies.domain.policy import DEFAULT
from optimizer.removals.domain.states import RemovalState
from optimizer.removals.selectors import get_removal_for_user
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotVisible, PortalError, StaleState
from portal.lake.paths import LakePath
from portal.lake.reasons import check_text
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from portal.safety.fence import (
    DIRECTORY_MODE,
)

RETURN_KIND = "optimizer.return"
TRY_AGAIN = timedelta(days=1)
_SYNC_AT_ONCE = 500


def quarantine_return(
    plan_id: UUID | str, *, user: User, reason: str = "", now: datetime
) -> RemovalPlan:
    """Have all files of a list brought back by a run; asked for twice the second is refused.

    Raises:
        NotVisible: there is no such list for this person;
        StaleState: `quarantine.closed`, nothing of it lies in quarantine, or a run has it.
    """
    plan = get_removal_for_user(plan_id, user=user)
    check_text(reason)
    with transaction.atomic():
        row = Quarantine.objects.select_for_update().filter(plan=plan).first()
        if row is None or row.state != QuarantineState.HELD:
            raise StaleState(
                "quarantine.closed",
                "Nothing of this list is in quarantine, or a run has it just now.",
            )
        run = run_request(
            RETURN_KIND,
            lake=plan.subject.lake,
            params={"plan": str(plan.pk)},
            requested_by=user.username,
            reason=reason.strip(),
            subject=("removal", str(plan.pk)),
            now=now,
        )
        row.state, row.run = QuarantineState.RETURNING, run.pk
        row.save(update_fields=["state", "run"])
        _audit("return_asked", row, actor=user.username, now=now, reason=reason.strip())
    return plan


def files_return(run: Run) -> dict[str, Any]:
    """Move the files of a list back to where they were; done again it moves what is left.

    Raises:
        StaleState: `quarantine.changed`, the manifest is not the approved list.
    """
    plan = RemovalPlan.objects.get(pk=run.params["plan"])
    opened = OpenedQuarantine.of(plan)
    held = opened.place.held
    n_back, left = 0, []
    touched: set[LakePath] = set()
    for one in opened.files(held):
        target = get_lake(run.lake).path(one.path)
        try:
            _move_back(opened, held.child(one.name), target)
            n_back += 1
            touched.add(target.parent)
        except PortalError as error:
            left.append(f"{target}: {error.message}")
        if len(touched) >= _SYNC_AT_ONCE:
            opened.fs.sync_directories([held, *touched])
            touched.clear()
    if touched:
        opened.fs.sync_directories([held, *touched])
    return {"n_returned": n_back, "left": left[:20], "n_left": len(left)}


def returned_ingest(run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
    """Record what came back; what is left stays in quarantine, with the reason."""
    row = _of_run(run, QuarantineState.RETURNING)
    if row is None:
        return
    result, error = manifest.get("result") or {}, manifest.get("error") or {}
    left = [str(one) for one in result.get("left", ())]
    reason = f"{result['n_left']} files could not be brought back. {left[0]}" if left else ""
    _looked_at(row, str(error.get("message") or reason), QuarantineState.RETURNED, now=now)
    if row.state == QuarantineState.RETURNED:
        row.ended_by = run.requested_by
        row.save(update_fields=["ended_by"])
    n_returned = int(result.get("n_returned", 0))
    _audit("returned", row, actor=run.requested_by, now=now, n_returned=n_returned)


def quarantines_due(lake: str, *, now: datetime) -> QuerySet[Quarantine]:
    """Return those whose days are over; one that was tried lately waits for a day."""
    tried = Q(tried_at=None) | Q(tried_at__lte=now - TRY_AGAIN)
    rows = Quarantine.objects.filter(
        tried, plan__table__lake=lake, state=QuarantineState.HELD, delete_after__lte=now
    )
    return rows.select_related("plan__table").order_by("delete_after")


def quarantines_take(run: Run, *, most: int, now: datetime) -> list[Quarantine]:
    """Let a run have the quarantines that are due; asked again it keeps those that it has."""
    mine = Quarantine.objects.filter(run=run.pk, state=QuarantineState.DELETING)
    for row in [] if mine.exists() else quarantines_due(run.lake, now=now)[:most]:
        free = Quarantine.objects.filter(pk=row.pk, state=QuarantineState.HELD)
        free.update(state=QuarantineState.DELETING, run=run.pk, tried_at=now)
    taken = list(mine.select_related("plan__table").order_by("delete_after"))
    for row in taken:
        # Renamed for the run: once it is settled, a late deletion finds nothing.
        with suppress(NotVisible, StaleState):
            opened = OpenedQuarantine.of(row.plan)
            opened.fs.rename(opened.place.held, opened.place.going)
    return taken


def deletions_settle(run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
    """Take the quarantines of a run back and record what is left of each; twice = the same."""
    said = {str(one["quarantine"]): one for one in manifest.get("result", {}).get("results", [])}
    error = manifest.get("error") or {}
    for row in Quarantine.objects.filter(run=run.pk, state=QuarantineState.DELETING):
        opened = OpenedQuarantine.of(row.plan)
        with suppress(NotVisible, StaleState):
            opened.fs.rename(opened.place.going, opened.place.held)
        before = row.n_files
        result = said.get(str(row.pk), {})
        reason = str(result.get("reason") or error.get("message") or "")
        _looked_at(row, reason, QuarantineState.DELETED, now=now)
        n_deleted = before - row.n_files
        _audit("deleted", row, actor="lakewarden", now=now, n_deleted=n_deleted, reason=reason)


def _looked_at(row: Quarantine, reason: str, empty: QuarantineState, *, now: datetime) -> None:
    """Record what lies in a quarantine now, whatever a run says of it."""
    opened = OpenedQuarantine.of(row.plan)
    held = opened.place.held
    row.reason = reason
    try:
        if opened.is_empty(held):
            opened.clear(held)
            row.n_files, row.n_bytes, row.state, row.ended_at = 0, 0, empty, now
        else:
            row.state = QuarantineState.HELD
            files = opened.files(held)
            row.n_files, row.n_bytes = len(files), sum(one.size for one in files)
    except (StaleState, NotVisible) as error:
        # Nothing of it is touched until a person has looked.
        row.state, row.reason = QuarantineState.HELD, error.message
    row.save(update_fields=["state", "n_files", "n_bytes", "reason", "ended_at"])


def _move_back(opened: OpenedQuarantine, source: LakePath, target: LakePath) -> None:
    try:
        opened.fs.rename(source, target, sync=False)
    except StaleState as error:
        if error.code == "fs.parent_missing":
            opened.fs.make_directories(target.parent, mode=DIRECTORY_MODE)
            opened.fs.rename(source, target, sync=False)
        elif error.code != "fs.missing" or opened.fs.status(target) is None:
            raise


def _of_run(run: Run, state: QuarantineState) -> Quarantine | None:
    rows = Quarantine.objects.filter(run=run.pk, state=state)
    return rows.select_related("plan__table").first()


def _audit(what: str, row: Quarantine, *, actor: str, now: datetime, **data: Any) -> None:
    table = row.plan.subject
    audit_record(
        f"quarantine.{what}",
        actor=actor,
        lake=table.lake,
        object_type="removal",
        object_id=str(row.plan_id),
        data={"table": str(table), "directory": row.directory, "n_files": row.n_files, **data},
        now=now,
    )


def quarantines_open(run: Run) -> None:
    """Make the quarantines into which a run moves the files of its lists; twice = the same."""
    for plan in _orphan_lists(run.pk):
        quarantine_make(plan)


def quarantines_seal(run: Run, *, now: datetime) -> None:
    """Seal the quarantines of a run that has ended, and record what lies there; twice = once."""
    if not run.spool:
        return
    for plan in _orphan_lists(run.pk):
        if QUARANTINE_OF in plan.facts:
            quarantine_keep(plan, now=now)


def quarantine_keep(plan: RemovalPlan, *, now: datetime) -> Quarantine | None:
    """Seal the quarantine of a list and record what lies there; None where nothing does.

    The row is made from the directory, whatever the run says of it. Twice gives the same row.
    """
    opened = OpenedQuarantine.of(plan)
    if not opened.seal():
        return None
    if opened.is_empty(opened.place.held):
        opened.clear(opened.place.held)
        return None
    files = opened.files(opened.place.held)
    # A list that was created before there was a quarantine states no days.
    days = int(plan.facts.get("quarantine_days", DEFAULT.quarantine_days))
    row, _ = Quarantine.objects.get_or_create(
        plan=plan,
        defaults={
            "directory": str(opened.place.held),
            "state": QuarantineState.HELD,
            "n_files": len(files),
            "n_bytes": sum(one.size for one in files),
            "moved_at": now,
            "delete_after": now + timedelta(days=days),
        },
    )
    return row


def _orphan_lists(run_id: UUID) -> Iterator[RemovalPlan]:
    plans = RemovalPlan.objects.filter(run=run_id, kind=TaskKind.ORPHANS, table__isnull=False)
    yield from plans.filter(state=RemovalState.RUNNING).select_related("table")
