"""Lists a backup's contents, previews what a restore would meet, and starts the restore.

The web process cannot read the lake: looking in and previewing are short runs whose result is rows.
A restore that was asked for twice gives the run that is under way; items that are back already are
left alone by the job.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from lifecycle.backup.domain.restore_choice import Choice
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.selectors import RESTORABLE
from lifecycle.restore.selectors.backups import (
    BackupChoice,
    batches_for_user,
    get_batch_for_user,
    may_restore,
)
from lifecycle.restore.services.names import RestoreTo, check_target
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.reasons import check_reason, check_text
from portal.runs.domain import ACTIVE
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from portal.safety.selectors import emergency_stop_state

RESTORE_KIND = "lifecycle.restore"
PREVIEW_KIND = "lifecycle.restore_preview"
ITEMS_KIND = "lifecycle.backup_items"
MAX_BATCHES = 2_000


@dataclass(frozen=True, slots=True)
class RestoreParams:
    """What a person wants back; `straight_on` restores by itself when nothing is in the way.

    `to`: under another name, or into a table; `only_missing`: what stands there is no conflict.
    """

    choice: BackupChoice
    reason: str
    straight_on: bool = False
    only_missing: bool = False
    to: RestoreTo | None = None


def restore_preview_request(lake: str, wish: RestoreParams, *, user: User, now: datetime) -> Run:
    """Find out what a restore would do to each item; asked again while it runs, the same run.

    Raises:
        NotVisible: nothing of what was chosen is there for this person.
        NotAllowed: the person may see it but does not own all of it.
        StaleState: nothing of it can be restored any more.
    """
    params = _params(lake, wish, user=user)
    return _request(PREVIEW_KIND, lake, params, reason=wish.reason, user=user, now=now)


def _params(lake: str, wish: RestoreParams, *, user: User) -> dict[str, Any]:
    if wish.choice.is_empty:
        raise RuleViolation("restore.choice", "Choose a day, a table or batches to restore.")
    check_reason(wish.reason, "restore.reason", "Enter a reason for the restore.")
    seen = wish.choice.of(batches_for_user(lake, user))
    if not seen.exists():
        raise NotVisible("backup.missing", "There is no such backup, or it is not yours to see.")
    if not may_restore(user, seen):
        raise NotAllowed("restore.owner", "Only its owner or an admin may restore a table.")
    _check_target(lake, wish.to, seen, user=user)
    ids = list(
        seen.filter(state__in=RESTORABLE)
        .order_by("id")
        .values_list("public_id", flat=True)[: MAX_BATCHES + 1]
    )
    if not ids:
        raise StaleState("restore.nothing", "Nothing of this is left to restore: see its state.")
    if len(ids) > MAX_BATCHES:
        raise RuleViolation(
            "restore.too_much", f"More than {MAX_BATCHES} batches at once; restore by table."
        )
    return {
        "batches": [str(one) for one in ids],
        "partitions": sorted(wish.choice.partitions) or None,
        "words": f"{wish.choice.words} {wish.to.words if wish.to else ''}".strip(),
        "straight_on": wish.straight_on,
        "only_missing": wish.only_missing,
        "to": wish.to.as_dict() if wish.to else None,
    }


def _check_target(
    lake: str, to: RestoreTo | None, batches: QuerySet[BackupBatch], *, user: User
) -> None:
    if to is not None:
        sources = set(batches.order_by().values_list("db", "table").distinct()[:2])
        check_target(lake, to, sources=sources, user=user)


def _check_ready(result: Mapping[str, Any]) -> None:
    if result.get("n_ready"):
        return
    rows = result.get("rows", ())
    mismatch = next(
        (row.get("reason") or row["why"] for row in rows if row["choice"] == Choice.MISFIT), ""
    )
    if mismatch:
        raise RuleViolation("restore.mismatch", f"Nothing was restored: {mismatch}.")
    raise StaleState("restore.nothing", "Nothing can be restored as it is; see the reasons.")


def restore_request(preview: Run, *, user: User, now: datetime) -> Run:
    """Restore what a finished preview showed; conflicts are left out. Asked twice, the same run."""
    if preview.kind != PREVIEW_KIND or not preview.is_final or preview.result is None:
        raise StaleState("restore.preview", "The preview is not ready. Wait for it, or ask again.")
    return restore_start(preview, preview.result, user=user, now=now)


@transaction.atomic
def restore_start(preview: Run, result: Mapping[str, Any], *, user: User, now: datetime) -> Run:
    """Make the restore run of a preview with this result; a preview has one restore, ever."""
    _check_ready(result)
    if emergency_stop_state(preview.lake) is not None:
        raise StaleState(
            "red_button.on", "The emergency stop is on: nothing is moved until it is off."
        )
    ids = preview.params["batches"]
    seen = batches_for_user(preview.lake, user).filter(public_id__in=ids)
    if seen.count() != len(ids) or not may_restore(user, seen):
        raise NotAllowed("restore.owner", "Only its owner or an admin may restore a table.")
    _check_target(preview.lake, RestoreTo.of(preview.params.get("to")), seen, user=user)
    known = restore_run_of(preview)
    if known is not None:
        return known
    run = run_request(
        RESTORE_KIND,
        lake=preview.lake,
        params={
            **{name: preview.params[name] for name in ("batches", "partitions", "words")},
            "only_missing": preview.params.get("only_missing", False),
            "rename_to": result.get("to"),
        },
        requested_by=user.username,
        reason=preview.reason,
        unique_key=f"restore:{preview.pk}",
        subject=("restore_preview", str(preview.pk)),
        now=now,
    )
    audit_record(
        "restore.requested",
        actor=user.username,
        lake=preview.lake,
        object_type="run",
        object_id=str(run.pk),
        data={
            "what": preview.params["words"],
            "reason": preview.reason,
            "batches": ids,
            "to": result.get("to"),
            "only_missing": preview.params.get("only_missing", False),
        },
        now=now,
    )
    return run


def restore_run_of(preview: Run) -> Run | None:
    """Return the restore that followed a preview, if there is one."""
    return Run.objects.filter(unique_key=f"restore:{preview.pk}").first()


def get_preview_for_user(run_id: UUID | str, *, user: User) -> Run:
    """Return a preview that this person asked for (admins and operators: any)."""
    run = Run.objects.filter(pk=run_id, kind=PREVIEW_KIND).first()
    if run is None or not (user.is_lake_staff_of(run.lake) or run.requested_by == user.username):
        raise NotVisible("restore.missing", "There is no such preview, or it is not yours to see.")
    return run


def backup_items_request(batch_id: UUID | str, *, user: User, now: datetime) -> Run:
    """Have the items of one batch copied into the database, to be looked at."""
    batch = get_batch_for_user(batch_id, user=user)
    params = {"batch": str(batch.public_id)}
    reason = "Read the contents of a backup."
    return _request(ITEMS_KIND, batch.lake, params, reason=reason, user=user, now=now)


@transaction.atomic
def _request(
    kind: str, lake: str, params: dict[str, Any], *, reason: str, user: User, now: datetime
) -> Run:
    """Make the run, or give the unfinished one that this person asked for with the same words."""
    check_text(reason)
    subject = ("backup", _fingerprint(params))
    under_way = Run.objects.filter(
        lake=lake,
        kind=kind,
        subject_type=subject[0],
        subject_id=subject[1],
        requested_by=user.username,
        state__in=ACTIVE,
    ).first()
    if under_way is not None:
        return under_way
    return run_request(
        kind,
        lake=lake,
        params={**params, "now": now.isoformat()},
        requested_by=user.username,
        reason=reason.strip(),
        subject=subject,
        now=now,
    )


def _fingerprint(params: dict[str, Any]) -> str:
    text = json.dumps(params, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
