"""Puts changed columns of a source to admins, and lets its layer go on once one has approved.

Nobody asked for them but the source, so admins are asked of each by itself, with all rows read
again: only then the target has what a new one would have. A person who knows better may ask to
leave earlier rows as they are.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from pipelines.incremental.selectors.schemas import get_request_for_user, requests_visible
from pipelines.incremental.services.declaring import check_staff, record
from pipelines.models import LayerSchemaRequest, LayerSource
from portal.access.actors import Actor
from portal.access.models import User
from portal.approvals.changes import Changes
from portal.approvals.domain import content_digest
from portal.approvals.models import Approval
from portal.approvals.proposals import ProposalKind
from portal.approvals.selectors import approvers
from portal.lake.errors import StaleState

APPROVAL_KIND = "pipelines.layer_schema"
BY = "layers"
MOST_AT_ONCE = 100
_MOVED_ON = "The columns changed again, or the layer is no more."


class LayerSchemaRequests(ProposalKind[LayerSchemaRequest]):
    """Changed columns of a layer's source, as proposals.

    No cooling-off: nothing is destroyed, and the layer waits meanwhile.
    """

    name = APPROVAL_KIND
    title = "Changed columns of a layer"
    model = LayerSchemaRequest
    page = "pipelines:layer-schema-request"
    transitions: ClassVar[Mapping[Any, Any]] = {
        "PENDING": {"APPROVED", "REJECTED", "LAPSED", "WITHDRAWN"}
    }
    open_states = frozenset({"PENDING"})
    cooling_off = timedelta(0)
    acts_at_once = True
    audited_as = "layer_schema"
    audits_moves = True
    reason_key = "note"
    closed = ("layer_schema.closed", "It is already {state}.")
    changed = ("layer_schema.changed", "The columns are not those that were read. Reload it.")
    moved_on = ("layer_schema.closed", "It has changed since this page was loaded. Reload it.")
    no_reason = ("layer_schema.reason", "Enter a reason for refusing it.")

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> LayerSchemaRequest:
        """Return one request, or raise NotVisible."""
        return get_request_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[LayerSchemaRequest]:
        """Return the requests that a person may see."""
        return requests_visible(lake, user)

    def changes(self, proposal: LayerSchemaRequest, user: User) -> Changes | None:
        """Return the last request about the same source of the same layer."""
        rows = self.visible(proposal.lake, user).filter(
            db=proposal.db,
            table=proposal.table,
            source=proposal.source,
            created_at__lt=proposal.created_at,
        )
        last = rows.order_by("-created_at").first()
        return None if last is None else Changes(last, self.url_of(last))

    def digest_of(self, proposal: LayerSchemaRequest) -> str:
        """Return the digest of the columns that wait now; empty: none do."""
        edge = proposal.edge
        return "" if edge is None else columns_digest(edge, reread=proposal.reread)

    def columns(
        self, proposal: LayerSchemaRequest, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return when and why it ended."""
        return {"note": reason, "ended_at": now, "open_key": None}

    def facts(self, proposal: LayerSchemaRequest) -> dict[str, Any]:
        """Return what every audit event of a request says."""
        return {
            "source": proposal.source,
            "change": proposal.change,
            "reread": proposal.reread,
            "digest": proposal.digest,
        }

    def on_approved(
        self, proposal: LayerSchemaRequest, approval: Approval, *, now: datetime
    ) -> None:
        """Let the layer go on with the columns that were read."""
        by = ", ".join(approvers(approval))
        self.move(proposal, "APPROVED", by=by, now=now)
        edge = LayerSource.objects.select_for_update().get(schema_requests=proposal.pk)
        _go_on(edge, reread=proposal.reread, by=by, now=now)


REQUESTS = LayerSchemaRequests()


def columns_digest(edge: LayerSource, *, reread: bool) -> str:
    """Return the sha256 of the columns that wait; what is approved is exactly those."""
    if not edge.waits_for:
        return ""
    content = [edge.layer_id, str(edge), edge.schema, edge.found_schema, reread]
    return content_digest(content)


def schema_requests_open(lake: str, *, now: datetime) -> None:
    """Ask admins about columns that wait, once for each change; again: nothing.

    Requests about columns that changed again are withdrawn. What was refused waits for a person,
    who edits the layer or asks again.
    """
    for request in LayerSchemaRequest.objects.filter(lake=lake, state="PENDING"):
        if REQUESTS.digest_of(request) != request.digest:
            with transaction.atomic():
                REQUESTS.end(request, "WITHDRAWN", by=BY, reason=_MOVED_ON, now=now)
    waiting = LayerSource.objects.filter(layer__lake=lake).exclude(found_schema=[])
    unasked = waiting.exclude(schema_requests__open_key__isnull=False).select_related("layer")
    for edge in unasked.order_by("pk")[:MOST_AT_ONCE]:
        digests = [columns_digest(edge, reread=reread) for reread in (True, False)]
        if edge.schema_requests.filter(state="REJECTED", digest__in=digests).exists():
            continue
        _open(edge, reread=True, by=BY, now=now)


def schema_ask(
    edge: LayerSource, *, seen: str, reread: bool, by: Actor, now: datetime
) -> LayerSchemaRequest:
    """Ask admins to go on with the columns that a source has now.

    `seen` is what the person was shown of them. With `reread` rows of before get the new columns
    as well; else theirs stay as they are. Asked again for the same it is the same request; one
    that was open for the other way is withdrawn.

    Raises:
        NotAllowed: `layer.role`.
        StaleState: `layer.schema`, they changed again, or nothing waits.
    """
    check_staff(by)
    with transaction.atomic():
        known = LayerSource.objects.select_for_update().select_related("layer").get(pk=edge.pk)
        words = known.waits_for
        if not words or words != seen:
            raise StaleState(
                "layer.schema",
                f"The columns of {known} changed again, or somebody decided. Reload the page.",
                table=str(known),
            )
        open_one = known.asked
        if open_one is not None:
            if open_one.digest == columns_digest(known, reread=reread):
                return open_one
            reason = f"{by.name} asked for another way."
            REQUESTS.end(open_one, "WITHDRAWN", by=by.name, reason=reason, now=now)
        made = _open(known, reread=reread, by=by.name, now=now)
    if made is None:
        raise StaleState("layer.schema", f"Somebody asked for {known} as well. Reload the page.")
    return made


def _open(edge: LayerSource, *, reread: bool, by: str, now: datetime) -> LayerSchemaRequest | None:
    """Put the columns of a source to admins; None: another process was first."""
    layer = edge.layer
    request = LayerSchemaRequest(
        state="PENDING",
        lake=layer.lake,
        db=layer.db,
        table=layer.table,
        edge=edge,
        source=str(edge),
        change=edge.waits_for,
        reread=reread,
        requested_by=by,
        reason=f"The columns of {edge} changed ({edge.waits_for})."[:1_000],
        digest=columns_digest(edge, reread=reread),
        created_at=now,
        open_key=edge.pk,
    )
    try:
        with transaction.atomic():
            request.save(force_insert=True)
            REQUESTS.audit("asked", request, actor=by, now=now)
            REQUESTS.ask_one(request, by=by, now=now)
    except IntegrityError:
        return None
    return request


def _go_on(edge: LayerSource, *, reread: bool, by: str, now: datetime) -> None:
    words = edge.waits_for
    edge.schema, edge.found_schema = edge.found_schema, []
    edge.save(update_fields=["schema", "found_schema"])
    layer = edge.layer
    layer.problem, layer.problem_code, layer.next_at = "", "", now
    if reread:
        layer.full_reason = f"The columns of {edge} changed ({words})."
    layer.save(update_fields=["problem", "problem_code", "next_at", "full_reason"])
    data = {"source": str(edge), "change": words, "reread": reread}
    record("schema_accepted", layer, data, by=by, now=now)
