"""Moves a restore back into the backup, on request of whoever restored it, or of an admin.

It destroys nothing, but it takes data away from readers: a fresh login, a reason, the lake's
working hours and the emergency stop stand before it (docs/decisions).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from lifecycle.backup.domain.states import BackupState
from lifecycle.backup.engine.journal.records import Outcome
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import restore_claims, undo_prepare
from lifecycle.backup.services.holds import holds_release_restored
from lifecycle.backup.services.ingesting import IngestReport, act_ingest
from lifecycle.backup.services.settling import act_settle
from lifecycle.restore.selectors.backups import may_restore
from lifecycle.restore.services.backups import RESTORE_KIND, restore_run_of
from portal.access.models import User
from portal.approvals.domain import check_fresh
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, StaleState
from portal.lake.reasons import check_reason
from portal.runs.domain import ACTIVE
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from portal.safety.selectors import emergency_stop_state

UNDO_KIND = "lifecycle.restore_undo"
_SUBJECT = "restore"
_BACK = (BackupState.RESTORED, BackupState.PARTLY_RESTORED)


@dataclass(frozen=True, slots=True)
class UndoParams:
    """Why a restore is taken back, and when the person who says so last logged in."""

    reason: str
    authenticated_at: datetime | None


@transaction.atomic
def restore_undo_request(preview: Run, wish: UndoParams, *, user: User, now: datetime) -> Run:
    """Put what the restore of a preview brought back into the backup; asked twice, the same run.

    Raises:
        NotAllowed: neither an admin nor who restored it, or no fresh login.
        StaleState: that restore has not ended, brought nothing, or its backup has been purged.
    """
    restore = restore_run_of(preview)
    if not is_theirs(preview, user=user):
        raise NotAllowed(
            "undo.role",
            "Only an admin, or who restored it and still owns it, may undo a restore.",
        )
    check_fresh(wish.authenticated_at, now)
    check_reason(wish.reason, "undo.reason", "Enter a reason for the undo.")
    if emergency_stop_state(preview.lake) is not None:
        raise StaleState(
            "red_button.on", "The emergency stop is on: nothing is moved until it is off."
        )
    if restore is None or not restore.is_final:
        raise StaleState("undo.not_ended", "That restore has not ended yet.")
    under_way = undo_runs(restore).filter(state__in=ACTIVE).first()
    if under_way is not None:
        return under_way
    if not may_undo(restore):
        raise StaleState(
            "undo.nothing", "Nothing of that restore can go back: see the state of its backup."
        )
    run = run_request(
        UNDO_KIND,
        lake=restore.lake,
        params={
            "restore": str(restore.pk),
            "batches": restore.params["batches"],
            "words": restore.params["words"],
            "rename_to": restore.params.get("rename_to"),
        },
        requested_by=user.username,
        reason=wish.reason.strip(),
        # Two people at one instant get one run; what is asked for after its end is another one.
        unique_key=f"restore_undo:{restore.pk}:{undo_runs(restore).count()}",
        subject=(_SUBJECT, str(restore.pk)),
        now=now,
    )
    audit_record(
        "restore.undo_requested",
        actor=user.username,
        lake=restore.lake,
        object_type="run",
        object_id=str(run.pk),
        data={
            "what": restore.params["words"],
            "reason": wish.reason.strip(),
            "restore": str(restore.pk),
        },
        now=now,
    )
    return run


def undo_runs(restore: Run) -> QuerySet[Run]:
    """Return the runs that take, or took, a restore back; newest first."""
    runs = Run.objects.filter(kind=UNDO_KIND, subject_type=_SUBJECT, subject_id=str(restore.pk))
    return runs.order_by("-queued_at")


def is_theirs(preview: Run, *, user: User) -> bool:
    """Whether a restore is this person's to take back: an admin's, or who may restore it again."""
    if user.is_lake_admin_of(preview.lake):
        return True
    asked = restore_run_of(preview) or preview
    ids = asked.params["batches"]
    return asked.requested_by == user.username and may_restore(
        user, BackupBatch.objects.filter(public_id__in=ids)
    )


def may_undo(restore: Run | None) -> bool:
    """Whether an ended restore brought something whose backup still takes it back."""
    if restore is None or restore.kind != RESTORE_KIND or not restore.is_final:
        return False
    # A run that died says nothing; its files do.
    is_dead = restore.result is None
    return (is_dead or n_standing(restore) > 0) and _batches(restore).exists()


def n_standing(restore: Run) -> int:
    """Return how many items of an ended restore have not been put back into the backup."""
    n_back = sum(_count(run, Outcome.UNDONE) for run in undo_runs(restore))
    return max(_count(restore, Outcome.RESTORED) - n_back, 0)


def _count(run: Run, outcome: Outcome) -> int:
    counts = (run.result or {}).get("counts") or {}
    return int(counts.get(outcome, 0))


def _batches(run: Run) -> QuerySet[BackupBatch]:
    ids = run.params["batches"]
    return BackupBatch.objects.filter(
        public_id__in=ids, state__in=_BACK, purged_at__isnull=True
    ).order_by("id")


class UndoKind(RunKind):
    """Puts what a restore brought back into the backup."""

    name = UNDO_KIND
    job = "lifecycle.restore.jobs.undo"
    title = "Undo a restore"
    queue = "destructive"
    acting = True
    destroys = True

    def must_wait(self, error: Mapping[str, Any]) -> bool:
        """Wait where another run has one of the backups."""
        return error.get("code") == "act.claimed"

    def prepare(self, run: Run) -> None:
        """Claim the backups behind a fence."""
        undo_prepare(run, batches=list(_batches(run)), now=timezone.now())

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job the claims, and whose items it takes back."""
        claims = restore_claims(run, batches=list(_batches(run)))
        return {**claims, "restore": run.params["restore"]}

    def beat(self, run: Run) -> None:
        """Renew the lease and tell the job of cancel, holds and the emergency stop."""
        act_beat(run, now=timezone.now())

    def settle(self, run: Run) -> None:
        """Seal and settle."""
        act_settle(run, now=timezone.now())

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Take the files' word into the catalogue, and end the holds of what went back."""
        now = timezone.now()

        def end_holds(report: IngestReport) -> None:
            holds_release_restored(
                run.lake,
                _undone(report, run.params.get("rename_to")),
                run_id=run.params["restore"],
                by=run.requested_by,
                now=now,
            )

        report = act_ingest(run, manifest, now=now, also=end_holds)
        manifest["result"] = report.whole_result(manifest.get("result") or {})


def _undone(report: IngestReport, to: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    """Return what went back by the names under which it stood."""
    found = []
    for name, (outcome, _) in report.items.items():
        if outcome == Outcome.UNDONE:
            table, _, partition = name.partition("/")
            db, _, plain = table.partition(".")
            found.append((to["db"], to["table"], partition) if to else (db, plain, partition))
    return found


def register_undo_kind() -> None:
    """Tell the platform of the run of this file."""
    register(UndoKind())
