"""One proposal of every kind that waits for people, and what the machine is to expect of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from lifecycle.drop.services.plans import PLANS, digest_of
from lifecycle.drop.services.standing_rules import RULES, rule_digest
from lifecycle.enrollment.services.enrollments import ENROLLMENTS, enrollment_digest
from lifecycle.models import (
    DropPlan,
    DropPlanTable,
    Enrollment,
    EnrollmentItem,
    PolicyRequest,
    RelocationMove,
    RelocationPlan,
    ScanSnapshot,
    StandingRule,
)
from lifecycle.policies.domain.states import RequestKind
from lifecycle.policies.services.requests import REQUESTS, request_digest
from lifecycle.relocation.services.plans import FIXES
from optimizer.models import RemovalPlan
from optimizer.removals.services.removals import REMOVALS
from pipelines.cdc.schema_requests.services import REQUESTS as SCHEMAS
from pipelines.cdc.schema_requests.services import change_digest
from pipelines.cdc.tickets.services.tickets import TICKETS, ticket_digest
from pipelines.incremental.services.schemas import REQUESTS as LAYER_SCHEMAS
from pipelines.incremental.services.schemas import columns_digest
from pipelines.models import Layer, LayerSchemaRequest, LayerSource, SchemaRequest, SchemaTicket
from portal.approvals.models import Proposal
from portal.approvals.proposals import ProposalKind
from portal.runs.models import Run
from tests.component.conftest import LAKE
from tests.component.optimizer.iceberg.removal_rows import proposed
from tests.component.optimizer.optimizer_rows import iceberg
from tests.component.pipelines.cdc.control.captured_rows import waiting_change

COOL = timedelta(hours=1)


@dataclass(frozen=True)
class Case:
    """One kind: how a proposal of it is made, and how it differs from a plan."""

    kind: ProposalKind[Any]
    ask: Callable[[str, datetime, int], Proposal]
    """Makes the n-th proposal for somebody, and asks people."""
    rests_on_policy: bool = True
    n_needed: int = 2
    cool: timedelta = COOL
    approved: str = "APPROVED"
    """The state of the proposal once enough people have approved."""


def _put(
    kind: ProposalKind[Any], row: Proposal, who: str, now: datetime, n_needed: int = 2
) -> Proposal:
    """Ask people about a row that is stored already."""
    row.approval = kind.open(row, requesters=[who], summary={}, n_needed=n_needed, now=now)
    row.save()
    return row


def _common(who: str, now: datetime) -> dict[str, Any]:
    return {"lake": LAKE, "requested_by": who, "reason": "old", "created_at": now}


def _plan(who: str, now: datetime, n: int) -> Proposal:
    plan = DropPlan(
        **_common(who, now), state="PENDING", items_sha256="a" * 64, requesters=[who], n_items=n + 1
    )
    plan.digest = digest_of(plan)
    plan.save(force_insert=True)
    DropPlanTable.objects.create(
        plan=plan, lake=LAKE, db="sales", table="orders", tbl_id=1, kind="TABLE", n_items=1
    )
    return _put(PLANS, plan, who, now)


def _fix(who: str, now: datetime, n: int) -> Proposal:
    digest = f"{n:064d}"
    fix = RelocationPlan(**_common(who, now), state="PENDING", digest=digest, requesters=[who])
    fix.save(force_insert=True)
    RelocationMove.objects.create(fix=fix, lake=LAKE, kind="TABLE", db="sales", table="orders")
    return _put(FIXES, fix, who, now)


def _rule(who: str, now: datetime, n: int) -> Proposal:
    rule = StandingRule(
        **_common(who, now),
        db="sales",
        table="orders",
        tbl_id=1,
        max_items_day=n + 1,
        max_bytes_day=1,
        starts_on=now.date(),
        until=now.date() + timedelta(days=80),
    )
    rule.digest = rule_digest(rule)
    rule.save(force_insert=True)
    return _put(RULES, rule, who, now)


def _enrollment(who: str, now: datetime, n: int) -> Proposal:
    run = Run.objects.create(lake=LAKE, kind="lifecycle.scan", requested_by="test", queued_at=now)
    generation = ScanSnapshot.objects.create(
        lake=LAKE, run=run, day=now.date(), as_of=now, read_at=now, notification_id=1
    )
    enrollment = Enrollment(
        **_common(who, now), level=1, ttl=n + 1, generation=generation, requesters=[who]
    )
    item = EnrollmentItem(enrollment=enrollment, db="sales", table="orders", tbl_id=1)
    enrollment.digest = enrollment_digest(enrollment, [item])
    enrollment.save(force_insert=True)
    item.save()
    return _put(ENROLLMENTS, enrollment, who, now)


def _request(who: str, now: datetime, n: int) -> Proposal:
    request = PolicyRequest(
        **_common(who, now), kind=RequestKind.SET, db="sales", table="orders", level=1, ttl=n + 1
    )
    request.digest = request_digest(request)
    request.save(force_insert=True)
    return _put(REQUESTS, request, who, now, n_needed=1)


def _removal(who: str, now: datetime, n: int) -> RemovalPlan:
    return proposed(iceberg(f"t{n}", now=now), now=now, requested_by=who)


def _schema(who: str, now: datetime, n: int) -> Proposal:
    change = waiting_change(n, now)
    row = SchemaRequest(
        **_common(who, now), state="PENDING", db="sales", table="orders", change=change
    )
    row.digest = change_digest(change)
    row.save(force_insert=True)
    return _put(SCHEMAS, row, who, now, n_needed=1)


def _ticket(who: str, now: datetime, n: int) -> Proposal:
    captured = waiting_change(n, now).captured
    row = SchemaTicket(
        **_common(who, now),
        **{"state": "PENDING", "db": "sales", "table": "orders", "captured": captured},
        **{"base_number": captured.schema_number, "statement": "ALTER TABLE orders DROP qty"},
        **{"columns": [], "key": ["id"], "changes": [], "change_class": "person"},
    )
    row.digest = ticket_digest(row)
    row.save(force_insert=True)
    return _put(TICKETS, row, who, now, n_needed=1)


def _layer_schema(who: str, now: datetime, n: int) -> Proposal:
    layer = Layer.objects.create(
        lake=LAKE,
        db="dwd",
        table=f"orders{Layer.objects.count()}",
        definition={},
        location="/lake/orders",
        next_at=now,
        set_by=who,
        set_at=now,
    )
    edge = LayerSource.objects.create(
        layer=layer, db="ods", table="orders", schema=[["id", "int"]], found_schema=[["id", "long"]]
    )
    row = LayerSchemaRequest(
        **_common(who, now), state="PENDING", db="sales", table="orders", edge=edge
    )
    row.digest = columns_digest(edge, reread=True)
    row.save(force_insert=True)
    return _put(LAYER_SCHEMAS, row, who, now, n_needed=1)


CASES = {
    "drop plan": Case(PLANS, _plan),
    "relocation plan": Case(FIXES, _fix),
    "standing rule": Case(RULES, _rule, approved="PENDING"),
    "enrolment": Case(ENROLLMENTS, _enrollment, cool=timedelta(0), approved="RUNNING"),
    "policy request": Case(
        REQUESTS,
        _request,
        rests_on_policy=False,
        n_needed=1,
        cool=timedelta(0),
        approved="RUNNING",
    ),
    "removal": Case(REMOVALS, _removal, rests_on_policy=False),
    "ticket": Case(TICKETS, _ticket, rests_on_policy=False, n_needed=1, cool=timedelta(0)),
    "layer schema": Case(
        LAYER_SCHEMAS, _layer_schema, rests_on_policy=False, n_needed=1, cool=timedelta(0)
    ),
    "schema": Case(SCHEMAS, _schema, rests_on_policy=False, n_needed=1, cool=timedelta(0)),
}
