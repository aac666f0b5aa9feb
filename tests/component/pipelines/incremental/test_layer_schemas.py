"""Changed columns hold a layer until an admin approves just them."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from pipelines.incremental.domain.messages import Field
from pipelines.incremental.services.declaring import (
    layer_delete,
)
from pipelines.incremental.services.requests import (
    layer_run,
)
from pipelines.incremental.services.schemas import (
    REQUESTS,
    schema_ask,
    schema_requests_open,
)
from pipelines.models import (
    Layer,
    LayerSchemaRequest,
    LayerSource,
)
from portal.approvals.domain import DecisionInput, DecisionKind
from portal.approvals.models import Approval
from portal.approvals.services import approvals_lapse
from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, StaleState
from portal.runs.models import Run
from tests.component.conftest import LAKE, People
from tests.component.pipelines.incremental.layered import (
    ADA,
    COLUMNS,
    OLGA,
    LayerLake,
    advanced,
    declare,
    edge,
    took,
)

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def held_by_columns(now: datetime) -> tuple[Layer, LayerSource]:
    """A layer that waits, as its source has a new column."""
    row = declare(now)
    took(layer_run(row, by=ADA, now=now), advanced(row, now))
    Run.objects.update(finished_at=now)
    run = layer_run(row, by=ADA, now=now + MINUTE)
    columns = (*COLUMNS, Field("vat", "double"))
    held = advanced(
        row,
        now + MINUTE,
        state="held",
        code="layer.schema",
        reason="new: vat double",
        edges=(edge("ods.orders", now, schema=columns), edge("ods.shops", now)),
    )
    took(run, held)
    source = LayerSource.objects.get(table="orders")
    assert (source.found, source.fields) == (columns, COLUMNS)
    assert LayerSource.objects.get(table="shops").found == ()
    return row, source


def decided(
    request: LayerSchemaRequest, people: People, now: datetime, decision: str = "APPROVE"
) -> None:
    answer = DecisionInput(DecisionKind(decision), "not agreed", request.digest)
    REQUESTS.decide(request.pk, user=people.admin, answer=answer, authenticated_at=now, now=now)


def test_changed_columns_hold_a_layer_until_an_admin_approves_them(
    hive: LayerLake, people: People, now: datetime
) -> None:
    row, source = held_by_columns(now)
    schema_requests_open(LAKE, now=now)
    schema_requests_open(LAKE, now=now)
    request = LayerSchemaRequest.objects.get()
    assert (request.change, request.reread, request.requested_by) == (
        "new: vat double",
        True,
        "layers",
    )
    decided(request, people, now)
    source.refresh_from_db()
    row.refresh_from_db()
    assert source.found == ()
    assert [one.name for one in source.fields][-1] == "vat"
    assert (row.problem, row.full_reason) == (
        "",
        "The columns of ods.orders changed (new: vat double).",
    )
    schema_requests_open(LAKE, now=now)
    assert LayerSchemaRequest.objects.count() == 1


def test_an_approval_that_its_last_word_carries_out_never_expires(
    hive: LayerLake, people: People, now: datetime
) -> None:
    held_by_columns(now)
    schema_requests_open(LAKE, now=now)
    request = LayerSchemaRequest.objects.get()
    decided(request, people, now)
    approval = Approval.objects.get()
    assert (approval.state, approval.end_reason) == ("USED", "The last approval carried it out.")
    assert approvals_lapse(now + timedelta(days=9)) == 0
    said = AuditEvent.objects.filter(object_id=str(request.pk)).order_by("seq")
    assert list(said.values_list("action", flat=True)) == [
        *("layer_schema.asked", "approval.opened", "approval.approve", "approval.approved"),
        *("layer_schema.approved", "approval.used"),
    ]


def test_a_person_asks_to_leave_rows_of_before_as_they_are(
    hive: LayerLake, people: People, now: datetime
) -> None:
    row, source = held_by_columns(now)
    schema_requests_open(LAKE, now=now)
    with pytest.raises(NotAllowed):
        schema_ask(source, seen="new: vat double", reread=False, by=OLGA, now=now)
    with pytest.raises(StaleState):
        schema_ask(source, seen="new: tax double", reread=False, by=ADA, now=now)
    asked = schema_ask(source, seen="new: vat double", reread=False, by=ADA, now=now)
    assert schema_ask(source, seen="new: vat double", reread=False, by=ADA, now=now) == asked
    states = LayerSchemaRequest.objects.order_by("reread").values_list("reread", "state")
    assert list(states) == [(False, "PENDING"), (True, "WITHDRAWN")]
    with pytest.raises(NotAllowed, match="You requested this"):
        decided(asked, people, now)
    decided(asked, replace(people, admin=people.second), now)
    row.refresh_from_db()
    assert (row.problem, row.full_reason) == ("", "")


def test_refused_columns_are_not_asked_again_until_they_change(
    hive: LayerLake, people: People, now: datetime
) -> None:
    row, source = held_by_columns(now)
    schema_requests_open(LAKE, now=now)
    request = LayerSchemaRequest.objects.get()
    decided(request, people, now, "REJECT")
    schema_requests_open(LAKE, now=now)
    assert LayerSchemaRequest.objects.get().state == "REJECTED"
    source.refresh_from_db()
    source.found_schema = [*source.found_schema, ["tax", "double"]]
    source.save()
    schema_requests_open(LAKE, now=now + MINUTE)
    newest = LayerSchemaRequest.objects.latest("created_at")
    assert (newest.state, newest.change) == ("PENDING", "new: vat double; new: tax double")
    source.found_schema = source.found_schema[:-1]
    source.save()
    with pytest.raises(StaleState):
        decided(newest, people, now + MINUTE)
    layer_delete(row, version=row.version, by=ADA, now=now)
    schema_requests_open(LAKE, now=now + MINUTE)
    newest.refresh_from_db()
    assert (newest.state, newest.edge) == ("WITHDRAWN", None)
