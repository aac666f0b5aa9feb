"""Lets a person overrule a scan that stopped because half of the lake was gone.

Such a scan stops by itself, for a broken reading is far likelier than a clean lake. Where the lake
really is that small now, an admin accepts the counts that the stopped scan saw, for one scan: a
metastore that shows half of those again stops that one too.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from lifecycle.inventory.services.scan import KIND
from portal.access.models import User
from portal.approvals.domain import MIN_REASON, check_fresh
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.lake.reasons import check_text
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.services import run_request

SHRANK = "scan.inventory_shrank"
COUNTS = ("databases", "tables", "partitions")


@dataclass(frozen=True, slots=True)
class SmallerLake:
    """What a stopped scan saw, beside what the last good one had seen."""

    run: Run
    before: dict[str, int]
    now: dict[str, int]
    may_be_accepted: bool
    accepted_by: Run | None

    @property
    def rows(self) -> list[tuple[str, int, int]]:
        """Each count as (what, before, now)."""
        return [(what, self.before[what], self.now[what]) for what in COUNTS]


def get_smaller_lake(run_id: UUID | str, *, user: User) -> SmallerLake:
    """Return what a scan stopped on.

    Raises:
        NotVisible: `scan.missing`, for anyone but admins and operators, or where no such scan
            stopped for this reason.
    """
    run = Run.objects.filter(pk=run_id, kind=KIND, state=RunState.FAILED).first()
    error = (run.error if run is not None else None) or {}
    if run is None or not user.is_lake_staff_of(run.lake) or error.get("code") != SHRANK:
        raise NotVisible(
            "scan.missing", "There is no scan here that stopped because the lake had shrunk."
        )
    fields = error["fields"]
    accepted_by = Run.objects.filter(unique_key=_key(run)).first()
    newest = Run.objects.filter(lake=run.lake, kind=KIND).order_by("-queued_at", "-pk").first()
    return SmallerLake(
        run,
        before={what: int(fields[f"{what}_before"]) for what in COUNTS},
        now={what: int(fields[f"{what}_now"]) for what in COUNTS},
        may_be_accepted=accepted_by is None and newest == run,
        accepted_by=accepted_by,
    )


def scan_accept_smaller(
    run_id: UUID | str,
    *,
    user: User,
    reason: str,
    authenticated_at: datetime | None,
    now: datetime,
) -> Run:
    """Ask for one scan that takes the smaller lake for true; accepted twice it is StaleState.

    Raises:
        NotAllowed: no admin, or no fresh login.
        RuleViolation: no reason.
        StaleState: somebody has accepted it, or a newer scan was asked for since.
    """
    smaller = get_smaller_lake(run_id, user=user)
    if not user.is_lake_admin_of(smaller.run.lake):
        raise NotAllowed("scan.accept_role", "Only an admin accepts a smaller lake; ask one.")
    if len(reason.strip()) < MIN_REASON:
        raise RuleViolation("scan.accept_reason", "Enter a reason; it is kept in the audit record.")
    check_text(reason)
    check_fresh(authenticated_at, now)
    if not smaller.may_be_accepted:
        raise StaleState(
            "scan.accept_old",
            "It was accepted already, or a newer scan was asked for since. Open that one.",
        )
    stopped = smaller.run
    with transaction.atomic():
        run = run_request(
            KIND,
            lake=stopped.lake,
            params={"now": now.isoformat(), "accepted": smaller.now},
            requested_by=user.username,
            reason=f"{user.username} accepted the smaller lake: {reason.strip()}",
            unique_key=_key(stopped),
            subject=("run", str(stopped.pk)),
            now=now,
        )
        data: dict[str, Any] = {"before": smaller.before, "accepted": smaller.now}
        audit_record(
            "scan.smaller_accepted",
            actor=user.username,
            lake=stopped.lake,
            object_type="run",
            object_id=str(stopped.pk),
            data={**data, "reason": reason.strip(), "scan": str(run.pk)},
            now=now,
        )
    return run


def _key(run: Run) -> str:
    return f"scan-accepted:{run.pk}"
