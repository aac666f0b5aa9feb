"""A ticket goes its way: opened, approved, the lake's table prepared, released, applied."""

from datetime import datetime, timedelta

import pytest

from pipelines.cdc.control.services.orders import orders_of
from pipelines.cdc.control.services.reports import schemas_take
from pipelines.cdc.tickets.services.dry_runs import DRY_RUN_KIND, dry_run_ingest
from pipelines.cdc.tickets.services.following import tickets_follow
from pipelines.cdc.tickets.services.opening import ticket_open, ticket_predict
from pipelines.cdc.tickets.services.tickets import TICKETS, is_counting, ticket_withdraw
from pipelines.models import CapturedTable, Pipeline, SchemaChange, SchemaTicket
from portal.access.actors import Actor
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.approvals.services import approvals_lapse
from portal.approvals.waiting import needs_decision_of
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.runs.models import Run
from tests.component.conftest import LAKE, People
from tests.component.pipelines.cdc.control.test_pipelines import OTTO
from tests.component.pipelines.cdc.tickets.ticket_rows import (
    in_the_lake,
    schema,
    shop_with_rows,
    wanted,
)

pytestmark = pytest.mark.django_db

TO_TEXT = wanted("MODIFY qty varchar(20)")
WIDER = wanted("MODIFY qty bigint")


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    return shop_with_rows(now)


def the_ticket() -> SchemaTicket:
    return SchemaTicket.objects.get()


def decide(user: User, now: datetime, decision: str = "APPROVE", reason: str = "") -> None:
    answer = DecisionInput(decision=decision, reason=reason, digest=the_ticket().digest)
    TICKETS.decide(the_ticket().pk, user=user, answer=answer, authenticated_at=now, now=now)


def ordered() -> dict[str, str]:
    (table,) = orders_of(LAKE).pipelines[0].tables
    return {column.name: column.type for column in table.columns}


def came(shop: Pipeline, now: datetime, ddl: str, **columns: str) -> SchemaChange:
    schemas_take(shop, [schema(2, ddl=f"ALTER TABLE orders {ddl}", **columns)], now=now)
    return SchemaChange.objects.get(number=2)


def test_a_change_that_loses_nothing_approves_itself_and_is_released_once_the_lake_is_ready(
    shop: Pipeline, now: datetime
) -> None:
    made = ticket_open(shop, WIDER, by=OTTO, now=now)
    assert (made.state, made.change_class, made.approval) == ("APPROVED", "auto", None)
    assert ordered() == {"id": "int", "qty": "bigint"}
    tickets_follow(LAKE, now=now)
    assert the_ticket().state == "APPROVED"
    in_the_lake(id="int", qty="bigint")
    tickets_follow(LAKE, now=now)
    assert (the_ticket().state, the_ticket().released_at) == ("RELEASED", now)
    change = came(shop, now, "MODIFY qty bigint", qty="bigint(20)")
    assert (change.decision, change.decided_by) == ("approved", f"ticket {made.short_id}")
    assert (the_ticket().state, the_ticket().seen_number) == ("APPLIED", 2)
    actions = AuditEvent.objects.filter(object_id=str(made.pk)).order_by("pk")
    assert list(actions.values_list("action", flat=True)) == [
        f"schema_ticket.{one}" for one in ("opened", "approved", "released", "applied")
    ]


def test_a_risky_change_is_approved_by_another_admin_and_then_holds_nothing(
    people: People, shop: Pipeline, now: datetime
) -> None:
    ada = Actor.of(people.admin, lake=shop.lake)
    ticket_open(shop, TO_TEXT, by=ada, now=now)
    assert [row for _, row in needs_decision_of(people.second, LAKE, now=now).rows] == [
        the_ticket()
    ]
    assert ordered() == {"id": "int", "qty": "int"}
    for user in (people.admin, people.operator):
        with pytest.raises(NotAllowed):
            decide(user, now)
    decide(people.second, now)
    assert ordered() == {"id": "int", "qty": "int", "qty_2": "string"}
    # Records under the new schema still wait: only the columns are there.
    (table,) = orders_of(LAKE).pipelines[0].tables
    assert [one.number for one in table.schemas] == [1]
    in_the_lake(id="int", qty="int", qty_2="string")
    tickets_follow(LAKE, now=now)
    assert the_ticket().state == "RELEASED"
    change = came(shop, now, "MODIFY qty varchar(20)", qty="varchar(20)")
    assert (change.decision, change.decided_reason) == ("approved", "the shop grows")
    assert the_ticket().state == "APPLIED"
    (table,) = orders_of(LAKE).pipelines[0].tables
    assert table.schemas[-1].live == {"id": "id", "qty": "qty_2"}


def test_another_change_than_announced_holds_as_if_there_were_no_ticket(
    people: People, shop: Pipeline, now: datetime
) -> None:
    ticket_open(shop, TO_TEXT, by=Actor.of(people.admin, lake=shop.lake), now=now)
    decide(people.second, now)
    change = came(shop, now, "MODIFY qty varchar(5)", qty="varchar(5)")
    assert change.decision == "waiting"
    assert the_ticket().state == "DIFFERED"
    assert "varchar(5)" in the_ticket().note
    # What the lake's table got stays, for Hudi cannot take it away.
    assert ordered() == {"id": "int", "qty": "int", "qty_2": "string"}


def test_a_change_that_came_before_its_approval_waits_and_the_ticket_cannot_be_approved(
    people: People, shop: Pipeline, now: datetime
) -> None:
    ticket_open(shop, TO_TEXT, by=Actor.of(people.admin, lake=shop.lake), now=now)
    change = came(shop, now, "MODIFY qty varchar(20)", qty="varchar(20)")
    assert (change.decision, the_ticket().state) == ("waiting", "DIFFERED")
    assert "before the ticket was approved" in the_ticket().note
    with pytest.raises(StaleState):
        decide(people.second, now)
    approvals_lapse(now + timedelta(days=4))
    assert the_ticket().state == "DIFFERED"


def test_what_the_lake_cannot_follow_is_rejected_at_once(shop: Pipeline, now: datetime) -> None:
    made = ticket_open(shop, wanted("MODIFY id bigint NOT NULL"), by=OTTO, now=now)
    assert (made.state, made.change_class) == ("REJECTED", "refused")
    assert "new pipeline" in the_ticket().note
    # The table is free for another ticket.
    assert ticket_open(shop, WIDER, by=OTTO, now=now).state == "APPROVED"


def test_a_new_column_is_there_before_it_comes_with_its_protection(
    shop: Pipeline, now: datetime
) -> None:
    both = wanted(
        "ADD phone varchar(20), ADD mail text", choices={"phone": "encrypted:PII", "mail": "plain"}
    )
    ticket_open(shop, both, by=OTTO, now=now)
    assert ordered() == {"id": "int", "qty": "int", "phone": "string", "mail": "string"}
    change = came(shop, now, "ADD phone varchar(20), ADD mail text", phone="varchar(20)",
                  mail="text")  # fmt: skip
    assert change.decision == "approved"
    assert change.column_choices == {"phone": "encrypted:PII", "mail": "plain"}
    (table,) = orders_of(LAKE).pipelines[0].tables
    assert (table.schemas[-1].aside, table.schemas[-1].live["phone"]) == ((), "phone")


def test_the_same_statement_again_is_the_same_ticket_and_another_has_to_wait(
    shop: Pipeline, now: datetime
) -> None:
    first = ticket_open(shop, TO_TEXT, by=OTTO, now=now)
    assert ticket_open(shop, TO_TEXT, by=OTTO, now=now).pk == first.pk
    with pytest.raises(RuleViolation) as refused:
        ticket_open(shop, WIDER, by=OTTO, now=now)
    assert refused.value.code == "ticket.open"


def test_tables_without_a_capture_or_with_a_change_that_waits_have_no_ticket(
    shop: Pipeline, now: datetime
) -> None:
    strange = wanted("ADD a int")
    strange = type(strange)("shop", "items", strange.statement, "why")
    with pytest.raises(RuleViolation) as refused:
        ticket_open(shop, strange, by=OTTO, now=now)
    assert refused.value.code == "ticket.captured"
    came(shop, now, "MODIFY qty varchar(20)", qty="varchar(20)")
    with pytest.raises(RuleViolation) as refused:
        ticket_open(shop, WIDER, by=OTTO, now=now)
    assert refused.value.code == "ticket.held"
    with pytest.raises(NotAllowed):
        ticket_predict(shop, WIDER, by=Actor("sam", is_staff=False, is_admin=False))


def test_a_reason_has_to_be_given(shop: Pipeline, now: datetime) -> None:
    with pytest.raises(RuleViolation) as refused:
        ticket_open(shop, wanted("MODIFY qty bigint", reason=" "), by=OTTO, now=now)
    assert refused.value.code == "ticket.reason"


def test_what_would_be_lost_is_counted_before_anybody_approves(
    people: People, shop: Pipeline, now: datetime
) -> None:
    narrow = wanted("MODIFY qty varchar(3)")
    made = ticket_open(shop, narrow, by=Actor.of(people.admin, lake=shop.lake), now=now)
    run = Run.objects.get(kind=DRY_RUN_KIND)
    assert (made.dry_run, run.params["location"]) == (run.pk, "file:/ods/orders")
    assert [one["source"] for one in run.params["checks"]] == ["qty"]
    with pytest.raises(StaleState) as refused:
        decide(people.second, now)
    assert refused.value.code == "ticket.counting"
    result = {"n_rows": 9, "n_lost": 2, "columns": []}
    dry_run_ingest(run, {"outcome": "done", "result": result})
    assert the_ticket().counted == result
    decide(people.second, now)
    assert the_ticket().state == "APPROVED"


def test_a_count_that_failed_is_told_and_stops_nobody(
    people: People, shop: Pipeline, now: datetime
) -> None:
    ticket_open(
        shop, wanted("MODIFY qty varchar(3)"), by=Actor.of(people.admin, lake=shop.lake), now=now
    )
    Run.objects.update(state="FAILED", finished_at=now, error="no such table")
    tickets_follow(LAKE, now=now)
    assert "no such table" in the_ticket().count_problem
    assert not is_counting(the_ticket())
    decide(people.second, now)


def test_nothing_is_counted_where_no_value_is_cast_or_the_lake_has_no_rows(
    shop: Pipeline, now: datetime
) -> None:
    ticket_open(shop, wanted("DROP qty"), by=OTTO, now=now)
    SchemaTicket.objects.all().delete()
    CapturedTable.objects.update(n_upserts=0)
    ticket_open(shop, wanted("MODIFY qty varchar(3)"), by=OTTO, now=now)
    assert not Run.objects.filter(kind=DRY_RUN_KIND).exists()


def test_a_table_without_rows_has_nothing_to_prepare(shop: Pipeline, now: datetime) -> None:
    CapturedTable.objects.update(n_upserts=0, lake_columns=[])
    ticket_open(shop, WIDER, by=OTTO, now=now)
    tickets_follow(LAKE, now=now)
    assert the_ticket().state == "RELEASED"


def test_a_ticket_expires_where_its_statement_never_comes(shop: Pipeline, now: datetime) -> None:
    ticket_open(shop, WIDER, by=OTTO, now=now)
    in_the_lake(id="int", qty="bigint")
    tickets_follow(LAKE, now=now)
    tickets_follow(LAKE, now=now + timedelta(days=14))
    assert the_ticket().state == "RELEASED"
    tickets_follow(LAKE, now=now + timedelta(days=15))
    assert (the_ticket().state, the_ticket().open_key) == ("EXPIRED", None)
    change = came(shop, now, "MODIFY qty bigint", qty="bigint(20)")
    assert change.decided_by == "rules"
    assert ordered() == {"id": "int", "qty": "bigint"}


def test_who_opened_it_withdraws_it_until_the_statement_came(
    people: People, shop: Pipeline, now: datetime
) -> None:
    made = ticket_open(shop, WIDER, by=Actor.of(people.operator, lake=shop.lake), now=now)
    assert TICKETS.steps(made, people.operator, now=now).withdraw
    assert not TICKETS.steps(made, people.admin, now=now).withdraw
    with pytest.raises(NotAllowed):
        ticket_withdraw(made.pk, user=people.admin, reason="no", now=now)
    ticket_withdraw(made.pk, user=people.operator, reason="not needed", now=now)
    assert (the_ticket().state, the_ticket().note) == ("WITHDRAWN", "not needed")
    with pytest.raises(StaleState):
        ticket_withdraw(made.pk, user=people.operator, reason="again", now=now)


def test_a_rejection_needs_a_reason_and_ends_it(
    people: People, shop: Pipeline, now: datetime
) -> None:
    ticket_open(shop, TO_TEXT, by=Actor.of(people.operator, lake=shop.lake), now=now)
    with pytest.raises(RuleViolation):
        decide(people.admin, now, "REJECT")
    decide(people.admin, now, "REJECT", "readers need numbers")
    assert (the_ticket().state, the_ticket().note) == ("REJECTED", "readers need numbers")


def test_others_see_no_ticket(people: People, shop: Pipeline, now: datetime) -> None:
    made = ticket_open(shop, WIDER, by=OTTO, now=now)
    for user in (people.owner, people.stranger):
        with pytest.raises(NotVisible):
            TICKETS.get_for_user(made.pk, user=user)
        assert not TICKETS.visible(LAKE, user).exists()
    with pytest.raises(NotVisible):
        TICKETS.get_for_user("no uuid", user=people.admin)
