"""Puts changes of schema to admins, and carries their decision to the change."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from pipelines.cdc.control.domain.plans import Decision
from pipelines.cdc.control.services.pipelines import load_again, locked_table
from pipelines.cdc.schema.domain.unlogged import leaves_rows_behind
from pipelines.cdc.schema_requests.selectors import (
    changes_of,
    get_request_for_user,
    needs_rebuild,
    requests_visible,
)
from pipelines.models import SchemaChange, SchemaRequest
from portal.access.models import User
from portal.approvals.changes import Changes
from portal.approvals.domain import DecisionInput, DecisionKind, content_digest
from portal.approvals.models import Approval
from portal.approvals.proposals import ProposalKind
from portal.approvals.selectors import approvers
from portal.lake.errors import RuleViolation

APPROVAL_KIND = "pipelines.schema_request"
_BY = "capture"
MOST_AT_ONCE = 100


class SchemaRequests(ProposalKind[SchemaRequest]):
    """Changes of schema, as proposals; nobody asked for them but the source.

    No cooling-off: nothing is destroyed, and the table's records wait meanwhile.
    """

    name = APPROVAL_KIND
    title = "Change of schema"
    model = SchemaRequest
    page = "pipelines:schema-request"
    transitions: ClassVar[Mapping[Any, Any]] = {
        "PENDING": {"APPROVED", "REJECTED", "LAPSED", "WITHDRAWN"}
    }
    open_states = frozenset({"PENDING"})
    cooling_off = timedelta(0)
    acts_at_once = True
    audited_as = "schema_request"
    audits_moves = True
    reason_key = "note"
    closed = ("schema_request.closed", "It is already {state}.")
    changed = ("schema_request.changed", "The change is not the one that was read. Reload it.")
    moved_on = ("schema_request.closed", "It has changed since this page was loaded. Reload it.")
    no_reason = ("schema_request.reason", "Enter a reason for refusing it.")

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> SchemaRequest:
        """Return one request, or raise NotVisible."""
        return get_request_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[SchemaRequest]:
        """Return the requests that a person may see."""
        return requests_visible(lake, user)

    def changes(self, proposal: SchemaRequest, user: User) -> Changes | None:
        """Return the last request about the same table."""
        rows = self.visible(proposal.lake, user).filter(
            change__captured=proposal.change.captured_id, created_at__lt=proposal.created_at
        )
        last = rows.order_by("-created_at").first()
        return None if last is None else Changes(last, self.url_of(last))

    def digest_of(self, proposal: SchemaRequest) -> str:
        """Return the digest of the change as it stands now."""
        return change_digest(proposal.change)

    def columns(
        self, proposal: SchemaRequest, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return when and why it ended."""
        return {"note": reason, "ended_at": now, "open_key": None}

    def facts(self, proposal: SchemaRequest) -> dict[str, Any]:
        """Return what every audit event of a request says."""
        return {
            "table": f"{proposal.db}.{proposal.table}",
            "schema": proposal.change.number,
            "digest": proposal.digest,
        }

    def check_answer(self, proposal: SchemaRequest, answer: DecisionInput, *, user: User) -> None:
        """Refuse to approve what the lake's table cannot become."""
        if answer.decision == DecisionKind.APPROVE and needs_rebuild(proposal.change):
            raise RuleViolation(
                "schema_request.rebuild",
                "The lake's table cannot become that: it would have to be built again. Refuse the "
                "change, then load the table into a new one on its page.",
            )

    def on_approved(self, proposal: SchemaRequest, approval: Approval, *, now: datetime) -> None:
        """Release the records that were made under the schema, and read what no record has.

        A change may have altered rows that were there: then the table is loaded again.
        """
        by = ", ".join(approvers(approval))
        self.move(proposal, "APPROVED", by=by, now=now)
        _decided(proposal.change, Decision.APPROVED, by=by, reason="", now=now)
        if leaves_rows_behind(changes_of(proposal.change)):
            load_again(locked_table(proposal.change.captured))

    def end(self, proposal: SchemaRequest, to: str, *, by: str, reason: str, now: datetime) -> None:
        """Move a request to an end; refused, the records stay aside; expired, it is asked again."""
        super().end(proposal, to, by=by, reason=reason, now=now)
        if to == "REJECTED":
            _decided(proposal.change, Decision.REFUSED, by=by, reason=reason, now=now)


REQUESTS = SchemaRequests()


def requests_open(lake: str, *, now: datetime) -> None:
    """Ask admins about every change that waits and of which nobody is asked; again: nothing."""
    waiting = SchemaChange.objects.filter(
        decision=Decision.WAITING.value, captured__lake=lake
    ).exclude(requests__open_key__isnull=False)
    for change in waiting.select_related("captured").order_by("seen_at")[:MOST_AT_ONCE]:
        _open(change, now=now)


def change_digest(change: SchemaChange) -> str:
    """Return the sha256 of a change; what is approved is exactly that."""
    content = [change.captured_id, change.number, change.columns, change.key, change.ddl]
    return content_digest(content)


def _open(change: SchemaChange, *, now: datetime) -> None:
    row = change.captured
    request = SchemaRequest(
        state="PENDING",
        lake=row.lake,
        db=row.target_db,
        table=row.target_table,
        change=change,
        requested_by=_BY,
        reason=_words(change),
        digest=change_digest(change),
        created_at=now,
        open_key=change.pk,
    )
    try:
        with transaction.atomic():
            request.save(force_insert=True)
            REQUESTS.audit("asked", request, actor=_BY, now=now)
            REQUESTS.ask_one(request, by=_BY, now=now)
    except IntegrityError:
        return  # another process was first


def _words(change: SchemaChange) -> str:
    words = (
        one.reason if one.column in one.reason else f"{one.column}: {one.reason}"
        for one in changes_of(change)
    )
    return " ".join(words)[:1_000]


def _decided(
    change: SchemaChange, decision: Decision, *, by: str, reason: str, now: datetime
) -> None:
    SchemaChange.objects.filter(pk=change.pk).update(
        decision=decision.value, decided_by=by, decided_at=now, decided_reason=reason
    )
