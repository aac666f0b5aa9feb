"""A change of schema that may lose waits for an admin, who decides on exactly what he read."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipelines.cdc.control.domain.plans import Choice
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.services.columns import column_choose
from pipelines.cdc.control.services.orders import orders_of, plan_of
from pipelines.cdc.control.services.pipelines import pipeline_create, pipeline_delete
from pipelines.cdc.control.services.reports import schemas_take
from pipelines.cdc.schema_requests.services import REQUESTS, change_digest, requests_open
from pipelines.models import CapturedTable, Pipeline, SchemaChange, SchemaRequest
from portal.approvals.domain import DecisionInput
from portal.approvals.models import Approval
from portal.approvals.services import approvals_lapse
from portal.approvals.waiting import needs_decision_of
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from tests.component.conftest import LAKE, People
from tests.component.pipelines.cdc.control.test_pipelines import ADA, OTTO
from tests.component.pipelines.cdc.control.test_reports import schema
from tests.unit.pipelines.cdc.control.test_spec import GOOD

pytestmark = pytest.mark.django_db

RISKY = schema(2, ddl="ALTER TABLE orders MODIFY qty varchar(9)", qty="varchar(9)")


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    made = pipeline_create(spec_of(GOOD), by=ADA, now=now)
    schemas_take(made, [schema(), RISKY], now=now)
    CapturedTable.objects.update(location="file:/ods/orders")
    requests_open(LAKE, now=now)
    return made


def yes(request: SchemaRequest, decision: str = "APPROVE", reason: str = "") -> DecisionInput:
    return DecisionInput(decision=decision, reason=reason, digest=request.digest)


def test_requests_of_a_deleted_pipeline_keep_no_other_approval_from_its_end(
    people: People, shop: Pipeline, now: datetime
) -> None:
    Pipeline.objects.update(desired=Desired.PAUSED.value)
    pipeline_delete(shop, typed=shop.name, reason="moved", by=ADA, now=now)
    assert not SchemaRequest.objects.exists()
    assert approvals_lapse(now + timedelta(days=4)) == 1
    assert Approval.objects.get().state == "LAPSED"


def held() -> list[bool]:
    (table,) = orders_of(LAKE).pipelines[0].tables
    return [one.is_held for one in table.schemas]


def test_a_change_is_put_to_admins_once(people: People, shop: Pipeline, now: datetime) -> None:
    requests_open(LAKE, now=now)
    request = SchemaRequest.objects.get()
    assert "qty" in request.reason
    for user in (people.admin, people.second):
        assert [row for _, row in needs_decision_of(user, LAKE, now=now).rows] == [request]
    assert not needs_decision_of(people.operator, LAKE, now=now).rows


def test_what_an_admin_approves_is_applied(people: People, shop: Pipeline, now: datetime) -> None:
    request = SchemaRequest.objects.get()
    assert held() == [False, True]
    with pytest.raises(NotAllowed):
        REQUESTS.decide(
            request.pk, user=people.operator, answer=yes(request), authenticated_at=now, now=now
        )
    REQUESTS.decide(
        request.pk, user=people.admin, answer=yes(request), authenticated_at=now, now=now
    )
    change = SchemaChange.objects.get(number=2)
    assert (change.decision, change.decided_by) == ("approved", "ada")
    assert change.captured.n_reloads == 1, "the log has no text of rows that were there"
    assert held() == [False, False]
    requests_open(LAKE, now=now)
    assert SchemaRequest.objects.count() == 1


def test_what_is_refused_stays_aside_with_the_reason(
    people: People, shop: Pipeline, now: datetime
) -> None:
    request = SchemaRequest.objects.get()
    answer = yes(request, "REJECT", "readers need numbers")
    REQUESTS.decide(request.pk, user=people.admin, answer=answer, authenticated_at=now, now=now)
    change = SchemaChange.objects.get(number=2)
    assert (change.decision, change.decided_reason) == ("refused", "readers need numbers")
    assert held() == [False, True]
    requests_open(LAKE, now=now)
    assert not SchemaRequest.objects.filter(state="PENDING").exists()


def test_a_request_that_lapsed_is_asked_again(
    people: People, shop: Pipeline, now: datetime
) -> None:
    later = now + timedelta(days=4)
    approvals_lapse(later)
    assert SchemaRequest.objects.get().state == "LAPSED"
    requests_open(LAKE, now=later)
    assert list(SchemaRequest.objects.order_by("created_at").values_list("state", flat=True)) == [
        "LAPSED", "PENDING",
    ]  # fmt: skip


def test_a_change_that_is_not_what_was_read_is_not_approved(
    people: People, shop: Pipeline, now: datetime
) -> None:
    request = SchemaRequest.objects.get()
    SchemaChange.objects.filter(number=2).update(ddl="ALTER TABLE orders DROP qty")
    with pytest.raises(StaleState):
        REQUESTS.decide(
            request.pk, user=people.admin, answer=yes(request), authenticated_at=now, now=now
        )
    assert change_digest(SchemaChange.objects.get(number=2)) != request.digest


def test_what_needs_another_table_cannot_be_approved(
    people: People, shop: Pipeline, now: datetime
) -> None:
    moved = schema(3, ddl="ALTER TABLE orders MODIFY id varchar(9)", id="varchar(9)")
    SchemaChange.objects.filter(number=2).update(decision="approved")
    schemas_take(shop, [moved], now=now)
    SchemaRequest.objects.all().delete()
    requests_open(LAKE, now=now)
    request = SchemaRequest.objects.get()
    with pytest.raises(RuleViolation) as error:
        REQUESTS.decide(
            request.pk, user=people.admin, answer=yes(request), authenticated_at=now, now=now
        )
    assert error.value.code == "schema_request.rebuild"


def test_the_page_shows_the_change_and_takes_a_decision(people: People, shop: Pipeline) -> None:
    client = Client()
    client.force_login(people.admin)
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    request = SchemaRequest.objects.get()
    SchemaRequest.objects.update(created_at=timezone.now())
    Approval.objects.update(expires_at=timezone.now() + timedelta(days=1))
    page = client.get(reverse("pipelines:schema-request", args=[request.pk])).content.decode()
    for shown in ("MODIFY qty varchar(9)", "Approve: schema 2 of ods.orders", "qty"):
        assert shown in page
    answer = client.post(
        reverse("pipelines:schema-request-decide", args=[request.pk]),
        {"decision": "APPROVE", "digest": request.digest},
    )
    assert answer.status_code == 302
    assert SchemaRequest.objects.get().state == "APPROVED"


def test_others_see_no_request(people: People, shop: Pipeline) -> None:
    request = SchemaRequest.objects.get()
    for user in (people.owner, people.stranger):
        with pytest.raises(NotVisible):
            REQUESTS.get_for_user(request.pk, user=user)


class TestColumnsThatCameLater:
    """They are aside until somebody says how the lake may have them."""

    @pytest.fixture
    def table(self, lake: LakeConfig, now: datetime) -> CapturedTable:
        made = pipeline_create(spec_of(GOOD), by=ADA, now=now)
        added = schema(2, ddl="ALTER TABLE orders ADD phone varchar(20)", phone="varchar(20)")
        schemas_take(made, [schema(), added], now=now)
        CapturedTable.objects.update(location="file:/ods/orders")
        return CapturedTable.objects.get()

    def test_a_column_is_added_once_somebody_said_so(
        self, table: CapturedTable, now: datetime
    ) -> None:
        assert plan_of(table, table.schemas.all()).pending == ("phone",)
        column_choose(table, "phone", "plain", reason="not personal", by=OTTO, now=now)
        (order,) = orders_of(LAKE).pipelines[0].tables
        assert [column.name for column in order.columns] == ["id", "qty", "phone"]
        assert [one.columns for one in order.replays] == [("phone",)]
        assert CapturedTable.objects.get().n_reloads == 0, "rows that were there have NULL"
        with pytest.raises(StaleState):
            column_choose(table, "phone", Choice.REFUSED.value, reason="oh", by=OTTO, now=now)

    def test_a_column_that_old_rows_have_too_is_loaded(
        self, table: CapturedTable, now: datetime
    ) -> None:
        change = SchemaChange.objects.get(number=2)
        change.columns[-1] |= {"is_nullable": False, "default": "0"}
        change.save()
        column_choose(table, "phone", "plain", reason="not personal", by=OTTO, now=now)
        assert CapturedTable.objects.get().n_reloads == 1

    def test_a_column_that_is_left_out_is_purged(self, table: CapturedTable, now: datetime) -> None:
        with pytest.raises(RuleViolation):
            column_choose(table, "phone", Choice.REFUSED.value, reason="", by=OTTO, now=now)
        with pytest.raises(RuleViolation):
            column_choose(table, "phone", Choice.PENDING.value, reason="x", by=OTTO, now=now)
        column_choose(table, "phone", Choice.REFUSED.value, reason="personal", by=OTTO, now=now)
        (order,) = orders_of(LAKE).pipelines[0].tables
        assert order.refused == ("phone",)
