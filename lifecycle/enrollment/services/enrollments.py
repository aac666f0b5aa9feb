"""Enrolls existing tables together: request, approval by two people, and undo.

The tables and values are frozen with a digest when it is asked for; the run (`enrol_apply`) reads
each table again and leaves what changed meanwhile. Nothing falls due at once: an enrolled table's
owner is written to first, and the notice days count from that mail.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from lifecycle.enrollment.selectors import (
    FILTER_KEYS,
    candidates,
    enrollment_other_steps,
    enrollments_visible,
    get_enrollment_for_user,
    preview,
)
from lifecycle.expiry.domain.what_if import Outcome
from lifecycle.expiry.selectors import many_what_ifs, outcome_json
from lifecycle.inventory.selectors.findings import scanned_ranges
from lifecycle.models import Enrollment, EnrollmentItem, TableFinding
from lifecycle.planning.selectors.inputs import current_generation
from lifecycle.planning.services.parties import Basis, requesters_of, requesters_of_many
from lifecycle.policies.domain.policy import Values, check_values
from lifecycle.policies.domain.states import (
    ENROLLMENT_TRANSITIONS,
    EnrollmentItemState,
    EnrollmentState,
)
from portal.access.models import User
from portal.approvals.changes import RANGES_SHOWN, Contents, Range
from portal.approvals.models import Approval
from portal.approvals.proposals import ProposalKind
from portal.approvals.rows import named
from portal.approvals.selectors import Steps
from portal.lake.counts import count_words
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.reasons import check_reason
from portal.runs.models import Run
from portal.runs.requests.services import run_request

ENROLL_KIND = "lifecycle.enrol"
APPROVAL_KIND = "lifecycle.enrolment"
_CHUNK = 1_000


class Enrollments(ProposalKind[Enrollment]):
    """Enrollments, as proposals.

    No cooling-off: nothing is destroyed, owners are written to before anything goes, and one admin
    can take it back.
    """

    name = APPROVAL_KIND
    title = "Enrollment"
    model = Enrollment
    page = "lifecycle:enrolment"
    transitions = ENROLLMENT_TRANSITIONS
    open_states = frozenset({EnrollmentState.PENDING})
    cooling_off = timedelta(0)
    audited_as = "enrolment"
    audits_moves = True
    reason_key = "note"
    closed = ("enrolment.closed", "It is already {state}.")
    changed = ("approval.changed", "The enrollment is not the one that was read. Reload it.")
    moved_on = (
        "enrolment.closed",
        "The enrollment has changed since this page was loaded. Reload it.",
    )
    contents = Contents(
        EnrollmentItem.objects.for_user,
        of="enrollment",
        same=("n_items", "bytes_now"),
        size="bytes_now",
        lake="enrollment__lake",
    )

    def ranges(self, proposal: Enrollment, db: str, table: str) -> Sequence[Range]:
        """Return the partitions of a table as the scan behind the enrollment saw them."""
        seen = scanned_ranges(proposal.generation_id, db, table)[:RANGES_SHOWN]
        return [Range(one.first, one.last, one.n_items, one.n_bytes) for one in seen]

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> Enrollment:
        """Return one enrollment, or raise NotVisible."""
        return get_enrollment_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[Enrollment]:
        """Return the enrollments that a person may see."""
        return enrollments_visible(lake, user)

    def about(self, proposals: QuerySet[Enrollment], text: str, user: User) -> QuerySet[Enrollment]:
        """Keep those with a table of such a name that the person may see."""
        mine = EnrollmentItem.objects.for_user(user).filter(named(text), enrollment=OuterRef("pk"))
        return proposals.filter(Exists(mine))

    def digest_of(self, proposal: Enrollment) -> str:
        """Return the digest of its values and tables as the rows are now."""
        return enrollment_digest(proposal, proposal.items.all())

    def requesters(self, proposal: Enrollment) -> Collection[str]:
        """Return its maker, and whoever last changed what it rests on."""
        tables = list(proposal.items.values_list("db", "table"))
        return requesters_of(proposal.lake, maker=proposal.requested_by, tables=tables, wishes=())

    def requesters_of(self, proposals: Sequence[Enrollment]) -> Mapping[UUID, Collection[str]]:
        """Return the same of many."""
        tables = defaultdict(set)
        rows = EnrollmentItem.objects.filter(enrollment__in=[one.pk for one in proposals])
        for key, db, table in rows.values_list("enrollment", "db", "table"):
            tables[key].add((db, table))
        bases = {one.pk: Basis(one.requested_by, tables[one.pk]) for one in proposals}
        return requesters_of_many(proposals[0].lake, bases) if proposals else {}

    def columns(
        self, proposal: Enrollment, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return when it ended, and why."""
        is_open = to in (EnrollmentState.RUNNING, EnrollmentState.UNDOING)
        return {"note": reason, "ended_at": None if is_open else now}

    def other_steps(self, proposal: Enrollment, user: User) -> Steps:
        """Return whether what it did can be taken back."""
        return enrollment_other_steps(proposal, user)

    def on_approved(self, proposal: Enrollment, approval: Approval, *, now: datetime) -> None:
        """Have a run write the values."""
        run = enrollment_run(proposal, undo=False, part=0, by=proposal.requested_by, now=now)
        self.move(proposal, EnrollmentState.RUNNING, now=now, run=run)


ENROLLMENTS = Enrollments()
enrollment_decide = ENROLLMENTS.decide
enrollment_withdraw = ENROLLMENTS.withdraw
enrollment_move = ENROLLMENTS.move


@dataclass(frozen=True, slots=True)
class EnrollmentParams:
    """Which tables (by the filter of the page) shall get which values; `n_tables` were seen."""

    selection: Mapping[str, str]
    wanted: Values
    n_tables: int
    reason: str


def enrollment_request(
    lake: str, wish: EnrollmentParams, *, user: User, now: datetime
) -> Enrollment:
    """Freeze a choice of tables and ask two people; each call makes an enrollment of its own.

    Raises:
        NotAllowed: neither admin nor operator.
        RuleViolation: no reason, odd values, no table, or more than one enrollment takes.
        StaleState: the choice holds other tables than the page showed.
    """
    if not user.is_lake_staff_of(lake):
        raise NotAllowed("enrol.role", "Admins and operators ask for enrollments.")
    check_reason(wish.reason, "enrol.reason", "Enter a reason; approvers and owners read it.")
    check_values(wish.wanted)
    generation = current_generation(lake)
    selection = {key: wish.selection[key] for key in FILTER_KEYS if wish.selection.get(key)}
    _check_choice(lake, selection, wish)
    level, ttl = wish.wanted.level, wish.wanted.ttl
    if level is None or ttl is None:
        raise RuleViolation("policy.values", "An enrollment gives LEVEL and TTL, both.")
    enrollment = Enrollment(
        lake=lake,
        level=level,
        ttl=ttl,
        selection=selection,
        generation=generation,
        requested_by=user.username,
        reason=wish.reason.strip(),
        created_at=now,
    )
    tables = candidates(lake, selection).order_by("db", "table")
    items, outcome = _items(enrollment, many_what_ifs(tables, wish.wanted))
    enrollment.n_tables, enrollment.what_if = len(items), outcome_json(outcome)
    enrollment.digest = enrollment_digest(enrollment, items)
    names = {(item.db, item.table) for item in items}
    enrollment.requesters = requesters_of(lake, maker=user.username, tables=names, wishes=())
    with transaction.atomic():
        enrollment.save(force_insert=True)
        EnrollmentItem.objects.bulk_create(items, batch_size=_CHUNK)
        enrollment.approval = ENROLLMENTS.open(
            enrollment,
            requesters=enrollment.requesters,
            summary={
                "title": f"Enroll {count_words(len(items), 'table')}",
                "reason": enrollment.reason,
            },
            now=now,
        )
        enrollment.save(update_fields=["approval"])
        ENROLLMENTS.audit("asked", enrollment, actor=user.username, now=now, n=len(items))
    return enrollment


@transaction.atomic
def enrollment_undo(
    enrolment_id: UUID | str, *, user: User, reason: str, now: datetime
) -> Enrollment:
    """Have the values put back that stood before; for one admin, as it makes nothing due.

    Tables that somebody changed since are left. Twice it is StaleState.
    """
    enrollment = get_enrollment_for_user(enrolment_id, user=user)
    if not user.is_lake_admin_of(enrollment.lake):
        raise NotAllowed("enrol.undo", "Only an admin undoes an enrollment.")
    check_reason(reason, "enrol.reason", "Enter a reason; it is kept in the history.")
    # The audit chain's end is locked last everywhere, so the row goes first.
    Enrollment.objects.select_for_update().filter(pk=enrollment.pk).first()
    run = enrollment_run(enrollment, undo=True, part=0, by=user.username, now=now)
    enrollment_move(
        enrollment,
        EnrollmentState.UNDOING,
        by=user.username,
        now=now,
        undo_run=run,
        undo_by=user.username,
        undo_reason=reason.strip(),
    )
    return enrollment


def enrollment_run(enrollment: Enrollment, *, undo: bool, part: int, by: str, now: datetime) -> Run:
    """Ask for the run that does the next part of an enrollment, in the caller's transaction."""
    what = "undo" if undo else "enrol"
    return run_request(
        ENROLL_KIND,
        lake=enrollment.lake,
        params={"enrolment": str(enrollment.pk), "undo": undo, "part": part},
        requested_by=by,
        reason=enrollment.reason,
        unique_key=f"{what}:{enrollment.pk}:{part}",
        subject=("enrolment", str(enrollment.pk)),
        now=now,
    )


def enrollment_digest(enrollment: Enrollment, items: Iterable[EnrollmentItem]) -> str:
    """Return the sha256 over the values and every table, its generation and what stood on it."""
    digest = hashlib.sha256()
    head = [enrollment.lake, enrollment.level, enrollment.ttl, enrollment.reason]
    digest.update(_line(head))
    for item in sorted(items, key=lambda one: (one.db, one.table)):
        digest.update(
            _line([item.db, item.table, item.tbl_id, item.seen_level, item.seen_ttl, item.n_now])
        )
    return digest.hexdigest()


def _line(values: list[object]) -> bytes:
    return json.dumps(values, separators=(",", ":"), default=str).encode() + b"\n"


def _check_choice(lake: str, selection: Mapping[str, str], wish: EnrollmentParams) -> None:
    found = preview(lake, selection, None)
    if not found.n_tables:
        raise RuleViolation(
            "enrol.nothing",
            "No table of this choice may be enrolled: it is in lifecycle already, its format is "
            "left alone, or its database is in Monitor only.",
        )
    if found.is_too_many:
        raise RuleViolation(
            "enrol.too_many",
            f"{found.n_tables} tables are more than one enrollment takes ({found.most}); narrow "
            "the filter.",
        )
    if found.n_tables != wish.n_tables:
        raise StaleState(
            "enrol.changed",
            f"The choice holds {found.n_tables} tables by now; your page said {wish.n_tables}. "
            "Reload the page.",
        )


def _items(
    enrollment: Enrollment, found: Iterable[tuple[TableFinding, Outcome]]
) -> tuple[list[EnrollmentItem], Outcome]:
    items, whole = [], Outcome()
    for table, outcome in found:
        whole += outcome
        items.append(
            EnrollmentItem(
                enrollment=enrollment,
                db=table.db,
                table=table.table,
                tbl_id=table.tbl_id,
                owner=table.owner,
                location=table.location,
                seen_level=table.level,
                seen_ttl=table.ttl,
                n_items=outcome.all.n,
                n_now=outcome.now.n + outcome.still_read.n,
                n_soon=outcome.soon.n,
                n_unsure=outcome.unsure.n,
                bytes_now=outcome.now.n_bytes + outcome.still_read.n_bytes,
                state=EnrollmentItemState.PENDING,
            )
        )
    return items, whole
