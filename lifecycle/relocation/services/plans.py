"""Moves relocation plans through their states: request, decision, withdrawal and undo.

Each function is one transaction: right, compare-and-set, audit. What enters a plan is created by
`path_fix_store` in a worker; `path_fix_execution` runs it. An undo is a plan of its own with the
places the other way round, and needs the same approvals.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from lifecycle.drop.models.plans import ENDED, TRANSITIONS
from lifecycle.models import (
    AT_TARGET,
    PathFinding,
    RelocationMove,
    RelocationPlan,
)
from lifecycle.planning.services.parties import Basis, requesters_of, requesters_of_many
from lifecycle.relocation.selectors import (
    fix_moves,
    fix_other_steps,
    fix_ranges,
    fixes_visible,
    get_fix_for_user,
)
from portal.access.models import User
from portal.approvals.changes import Contents, Range
from portal.approvals.proposals import ProposalKind
from portal.approvals.rows import named
from portal.approvals.selectors import Steps
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.reasons import check_reason
from portal.runs.requests.services import run_request

DRAW_KIND = "lifecycle.path_fix_plan"
FIX_APPROVAL_KIND = "lifecycle.path_fix"
_CHUNK = 500


class Relocations(ProposalKind[RelocationPlan]):
    """Relocation plans, as proposals."""

    name = FIX_APPROVAL_KIND
    title = "Relocation plan"
    model = RelocationPlan
    page = "lifecycle:path-fix"
    transitions = TRANSITIONS
    audited_as = "path_fix"
    closed = ("fix.closed", "This plan does not wait for a decision any more.")
    changed = ("fix.changed", "The plan is not the one that was read or approved. Reload it.")
    moved_on = ("fix.state", "The plan has changed since this page was loaded. Reload it.")
    no_reason = ("fix.reject_reason", "Enter a reason; the requester reads it.")
    not_maker = ("fix.not_maker", "Only its maker may withdraw a plan.")
    contents = Contents(
        fix_moves,
        of="fix",
        same=("partition", "source", "target"),
        unit="path",
        items="",
        has_many_rows_a_table=True,
    )

    def ranges(self, proposal: RelocationPlan, db: str, table: str) -> Sequence[Range]:
        """Return the partitions of a table that moves as a whole, else those that move alone."""
        return fix_ranges(proposal, db, table)

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> RelocationPlan:
        """Return one relocation plan, or raise NotVisible."""
        return get_fix_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[RelocationPlan]:
        """Return the relocation plans that a person may see."""
        return fixes_visible(lake, user)

    def about(
        self, proposals: QuerySet[RelocationPlan], text: str, user: User
    ) -> QuerySet[RelocationPlan]:
        """Keep those with a table of such a name that the person may see."""
        mine = RelocationMove.objects.for_user(user).filter(named(text), fix=OuterRef("pk"))
        return proposals.filter(Exists(mine))

    def requesters(self, proposal: RelocationPlan) -> Collection[str]:
        """Return its maker, and whoever last changed what it rests on."""
        tables = set(proposal.items.values_list("db", "table"))
        return requesters_of(proposal.lake, maker=proposal.requested_by, tables=tables, wishes=())

    def requesters_of(self, proposals: Sequence[RelocationPlan]) -> Mapping[UUID, Collection[str]]:
        """Return the same of many."""
        tables = defaultdict(set)
        rows = RelocationMove.objects.filter(fix__in=[one.pk for one in proposals])
        for key, db, table in rows.values_list("fix", "db", "table"):
            tables[key].add((db, table))
        bases = {one.pk: Basis(one.requested_by, tables[one.pk]) for one in proposals}
        return requesters_of_many(proposals[0].lake, bases) if proposals else {}

    def columns(
        self, proposal: RelocationPlan, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return who ended it and why."""
        return {"ended_at": now, "ended_by": by, "ended_reason": reason} if to in ENDED else {}

    def other_steps(self, proposal: RelocationPlan, user: User) -> Steps:
        """Return whether it can be taken back, or withdrawn while it is created."""
        return fix_other_steps(proposal, user)


FIXES = Relocations()
fix_decide = FIXES.decide
fix_withdraw = FIXES.withdraw
fix_move = FIXES.move
fix_audit = FIXES.audit


def fix_request(
    lake: str, finding_ids: Sequence[int], *, reason: str, user: User, now: datetime
) -> RelocationPlan:
    """Have a plan created for nonconforming paths of the last scan; each call makes its own.

    Raises:
        NotAllowed: `fix.role`, neither admin nor operator.
        RuleViolation: nothing or too much chosen, or no reason.
        StaleState: `fix.picture`, a row is not of the last scan any more.
    """
    _check_asked(user, lake, reason)
    wanted = sorted(set(finding_ids))
    most = settings.LAKEWARDEN_FIX_MAX_ITEMS
    if not wanted:
        raise RuleViolation("fix.nothing", "Choose at least one path rule violation.")
    if len(wanted) > most:
        raise RuleViolation("fix.too_many", f"One relocation plan takes at most {most} paths.")
    found = list(PathFinding.objects.current(lake).for_user(user).filter(pk__in=wanted))
    if len(found) != len(wanted):
        raise StaleState(
            "fix.picture", "A newer scan is shown by now. Reload the page and choose again."
        )
    fix = RelocationPlan(
        lake=lake,
        requested_by=user.username,
        requesters=[user.username],
        reason=reason.strip(),
        created_at=now,
    )
    items = [
        RelocationMove(
            fix=fix,
            lake=lake,
            kind=one.kind,
            db=one.db,
            table=one.table,
            partition=one.partition,
            owner=one.owner,
            db_owner=one.db_owner,
            reasons=one.reasons,
            source=one.location,
        )
        for one in found
    ]
    return _begin(fix, items, now=now)


def fix_undo_request(
    fix_id: UUID | str, *, reason: str, user: User, now: datetime
) -> RelocationPlan:
    """Have a plan created that brings back what a fix moved; for an admin.

    Raises:
        NotAllowed: `fix.undo_role`.
        StaleState: nothing of it lies at its new place, or an undo of it is under way.
    """
    original = get_fix_for_user(fix_id, user=user)
    if not user.is_lake_admin_of(original.lake):
        raise NotAllowed("fix.undo_role", "Only an admin undoes a relocation plan.")
    _check_asked(user, original.lake, reason)
    with transaction.atomic():
        RelocationPlan.objects.select_for_update().get(pk=original.pk)
        moved = list(original.items.filter(state__in=AT_TARGET).order_by("id"))
        if original.state not in ENDED or not moved:
            raise StaleState("fix.nothing_moved", "Nothing of this plan can be undone.")
        if original.undone_by.exclude(state__in=ENDED).exists():
            raise StaleState("fix.undo_under_way", "An undo of this plan is under way already.")
        undo = RelocationPlan(
            lake=original.lake,
            undo_of=original,
            requested_by=user.username,
            requesters=[user.username],
            reason=reason.strip(),
            created_at=now,
        )
        names = ("lake", "kind", "db", "table", "partition", "owner", "db_owner")
        items = [
            RelocationMove(
                fix=undo,
                source=one.target,
                target=one.source,
                **{name: getattr(one, name) for name in names},
            )
            for one in moved
        ]
        return _begin(undo, items, now=now)


def _check_asked(user: User, lake: str, reason: str) -> None:
    if not user.is_lake_staff_of(lake):
        raise NotAllowed("fix.role", "Admins and operators make relocation plans; ask one of them.")
    check_reason(reason, "fix.reason", "Enter a reason; approvers and owners read it.")


@transaction.atomic
def _begin(
    fix: RelocationPlan, items: Iterable[RelocationMove], *, now: datetime
) -> RelocationPlan:
    """Write a plan in DRAFTING, what is asked, and the run that draws it up."""
    fix.save(force_insert=True)
    made = RelocationMove.objects.bulk_create(items, batch_size=_CHUNK)
    fix.plan_run = run_request(
        DRAW_KIND,
        lake=fix.lake,
        params={"fix": str(fix.pk), "now": now.isoformat()},
        requested_by=fix.requested_by,
        reason=fix.reason,
        unique_key=f"fix-plan:{fix.pk}",
        subject=("path_fix", str(fix.pk)),
        now=now,
    )
    fix.save(update_fields=["plan_run"])
    undo_of = str(fix.undo_of_id) if fix.undo_of_id else ""
    fix_audit("requested", fix, actor=fix.requested_by, now=now, items=len(made), undo_of=undo_of)
    return fix
