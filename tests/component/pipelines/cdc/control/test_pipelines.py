"""Pipelines as people declare and keep them: who may, what is refused, what is recorded."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from pipelines.cdc.control.domain.spec import PipelineSpec, spec_of
from pipelines.cdc.control.domain.states import Desired, PipelineState, TableState
from pipelines.cdc.control.selectors.pipelines import (
    get_captured_table,
    get_pipeline_for_user,
    pipeline_rows,
    table_row,
    tables_of,
)
from pipelines.cdc.control.services.pipelines import (
    pipeline_create,
    pipeline_delete,
    pipeline_edit,
    pipeline_reload,
    pipeline_want,
    table_reload,
    table_want,
)
from pipelines.models import CapturedTable, Pipeline, SchemaChange
from portal.access.actors import Actor
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, NotVisible, PortalError, RuleViolation, StaleState
from tests.component.conftest import LAKE, People
from tests.unit.pipelines.cdc.control.test_spec import GOOD

pytestmark = pytest.mark.django_db

ADA = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)
OTTO = Actor("otto", is_staff=True, is_admin=False, is_fresh=True)


@pytest.fixture
def spec(lake: LakeConfig) -> PipelineSpec:
    return spec_of(GOOD)


@pytest.fixture
def shop(spec: PipelineSpec, now: datetime) -> Pipeline:
    return pipeline_create(spec, by=ADA, now=now)


def captured(pipeline: Pipeline, table: str = "orders", **fields: object) -> CapturedTable:
    return CapturedTable.objects.create(
        pipeline=pipeline,
        db="shop",
        table=table,
        lake=pipeline.lake,
        target_db=pipeline.target_db,
        target_table=table,
        **fields,
    )


def refused(error: pytest.ExceptionInfo[PortalError]) -> str:
    return error.value.code


def acts() -> list[str]:
    return list(AuditEvent.objects.order_by("seq").values_list("action", flat=True))


def test_a_pipeline_is_created_once(spec: PipelineSpec, now: datetime) -> None:
    made = pipeline_create(spec, by=ADA, now=now)
    assert pipeline_create(spec, by=ADA, now=now) == made
    assert made.spec == spec
    assert acts() == ["pipelines.created"]


@pytest.mark.parametrize("by", [OTTO, replace(ADA, is_fresh=False), replace(ADA, is_admin=False)])
def test_only_an_admin_who_logged_in_lately_names_a_server(
    spec: PipelineSpec, by: Actor, now: datetime
) -> None:
    with pytest.raises(NotAllowed) as error:
        pipeline_create(spec, by=by, now=now)
    assert refused(error) == "pipeline.role"
    assert not Pipeline.objects.exists()


def test_a_name_that_is_taken_and_a_lake_that_is_none_are_refused(
    spec: PipelineSpec, shop: Pipeline, now: datetime
) -> None:
    with pytest.raises(RuleViolation) as error:
        pipeline_create(replace(spec, target_db="other"), by=ADA, now=now)
    assert refused(error) == "pipeline.taken"
    with pytest.raises(NotVisible):
        pipeline_create(replace(spec, name="crm", lake="none"), by=ADA, now=now)


def test_two_readers_of_a_server_need_two_server_ids(
    spec: PipelineSpec, shop: Pipeline, now: datetime
) -> None:
    twin = replace(spec, name="twin")
    with pytest.raises(RuleViolation) as error:
        pipeline_create(twin, by=ADA, now=now)
    assert refused(error) == "pipeline.server_id"
    pipeline_create(replace(twin, server_id=7002), by=ADA, now=now)


def test_what_was_edited_by_two_at_once_is_changed_by_the_first(
    spec: PipelineSpec, shop: Pipeline, now: datetime
) -> None:
    pipeline_edit(shop, replace(spec, user="reader"), version=0, by=ADA, now=now)
    with pytest.raises(StaleState) as error:
        pipeline_edit(shop, replace(spec, user="other"), version=0, by=ADA, now=now)
    assert refused(error) == "pipeline.changed"
    shop.refresh_from_db()
    assert (shop.user, shop.version) == ("reader", 1)
    with pytest.raises(RuleViolation) as fixed:
        pipeline_edit(shop, replace(spec, target_db="other"), version=1, by=ADA, now=now)
    assert refused(fixed) == "pipeline.fixed"


def test_operators_pause_and_resume_with_a_reason(shop: Pipeline, now: datetime) -> None:
    with pytest.raises(RuleViolation):
        pipeline_want(shop, Desired.PAUSED, reason=" ", by=OTTO, now=now)
    for _ in range(2):
        pipeline_want(shop, Desired.PAUSED, reason="the source moves", by=OTTO, now=now)
    shop.refresh_from_db()
    assert (shop.desired, shop.desired_by) == ("PAUSED", "otto")
    pipeline_want(shop, Desired.RUNNING, reason="it moved", by=OTTO, now=now)
    assert acts() == ["pipelines.created", "pipelines.paused", "pipelines.resumed"]


def test_others_may_not_pause(shop: Pipeline, now: datetime) -> None:
    alice = Actor("alice", is_staff=False, is_admin=False)
    with pytest.raises(NotAllowed):
        pipeline_want(shop, Desired.PAUSED, reason="no", by=alice, now=now)


def test_a_table_that_failed_is_tried_again_when_it_is_resumed(
    shop: Pipeline, now: datetime
) -> None:
    table = captured(shop, problem="out of space", problem_code="cdc.apply")
    table_want(table, Desired.RUNNING, reason="there is space", by=OTTO, now=now)
    table.refresh_from_db()
    assert (table.problem, table.problem_code) == ("", "")
    assert acts()[-1] == "pipelines.table_resumed"


def test_what_is_loaded_again_is_asked_of_the_capture(shop: Pipeline, now: datetime) -> None:
    table = captured(shop, loaded_at=now, n_loaded=5)
    table_reload(table, reason="it differs", by=OTTO, now=now)
    pipeline_reload(shop, reason="the log was purged", by=OTTO, now=now)
    table.refresh_from_db()
    shop.refresh_from_db()
    assert (table.n_reloads, table.loaded_at, shop.epoch) == (1, None, 1)
    assert acts()[-2:] == ["pipelines.table_reloaded", "pipelines.reloaded"]


def test_only_a_paused_pipeline_is_deleted_and_by_its_typed_name(
    shop: Pipeline, now: datetime
) -> None:
    with pytest.raises(NotAllowed):
        pipeline_delete(shop, typed="shop", reason="old", by=OTTO, now=now)
    with pytest.raises(RuleViolation, match="Type shop"):
        pipeline_delete(shop, typed="", reason="old", by=ADA, now=now)
    with pytest.raises(RuleViolation) as runs:
        pipeline_delete(shop, typed="shop", reason="old", by=ADA, now=now)
    assert refused(runs) == "pipeline.runs"
    pipeline_want(shop, Desired.PAUSED, reason="old", by=ADA, now=now)
    pipeline_delete(shop, typed="shop", reason="old", by=ADA, now=now)
    assert not Pipeline.objects.exists()
    with pytest.raises(NotVisible):
        pipeline_want(shop, Desired.PAUSED, reason="old", by=ADA, now=now)


def test_pipelines_are_the_business_of_staff(people: People, shop: Pipeline) -> None:
    assert get_pipeline_for_user("shop", user=people.operator) == shop
    for user in (people.owner, people.stranger):
        with pytest.raises(NotVisible):
            get_pipeline_for_user("shop", user=user)


def test_a_table_of_another_pipeline_is_none_of_this_one(
    spec: PipelineSpec, shop: Pipeline, now: datetime
) -> None:
    crm = pipeline_create(replace(spec, name="crm", server_id=7002), by=ADA, now=now)
    table = captured(shop)
    assert get_captured_table(shop, table.pk) == table
    with pytest.raises(NotVisible):
        get_captured_table(crm, table.pk)


def test_a_list_says_how_each_pipeline_is(shop: Pipeline, now: datetime) -> None:
    Pipeline.objects.update(heard_at=now)
    live = captured(shop, loaded_at=now, applied_at=now, data_at=now - timedelta(minutes=2))
    captured(shop, "items", loaded_at=now, applied_at=now, data_at=now, n_quarantined=3)
    (row,) = pipeline_rows(Pipeline.objects.all(), now=now)
    assert (row.state, row.n_tables, row.n_troubled) == (PipelineState.RUNNING, 2, 0)
    assert (row.n_quarantined, row.data_at) == (3, live.data_at)
    SchemaChange.objects.create(
        captured=live,
        number=2,
        first_version=9,
        columns=[],
        key=[],
        decision="waiting",
        seen_at=now,
    )
    (row,) = pipeline_rows(Pipeline.objects.all(), now=now)
    assert (row.state, row.n_troubled) == (PipelineState.HELD, 1)
    states = [table_row(one).state for one in tables_of(shop).order_by("table")]
    assert states == [TableState.LIVE, TableState.HELD]
    assert shop.lake == LAKE
