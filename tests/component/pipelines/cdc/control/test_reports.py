"""What programs tell of a pipeline, taken in: repeated, late, of a program that began again."""

from dataclasses import replace
from datetime import datetime, timedelta

import msgspec
import pytest

from pipelines.cdc.applying.domain.messages import Failure, PipelineReport, TableReport
from pipelines.cdc.capture.domain.loads import Load
from pipelines.cdc.capture.engine.progress import Progress
from pipelines.cdc.changes.domain.records import Header
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.domain.states import PipelineState, TableState
from pipelines.cdc.control.run_kinds import APPLY_KIND, ApplyKind
from pipelines.cdc.control.selectors.pipelines import pipeline_rows, table_row, tables_of
from pipelines.cdc.control.services.orders import has_orders, orders_of
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.reports import (
    minute_add,
    problem_take,
    progress_take,
    schemas_take,
)
from pipelines.cdc.control.services.results import results_hear
from pipelines.cdc.control.services.sources import open_changelog
from pipelines.cdc.control.services.trimming import changelog_trim
from pipelines.models import CapturedTable, Pipeline, PipelineMinute, SchemaChange
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.records.spools import new_spool, open_spool
from tests.component.conftest import LAKE
from tests.component.pipelines.cdc.control.test_pipelines import ADA
from tests.unit.pipelines.cdc.control.test_spec import GOOD

pytestmark = pytest.mark.django_db

IDLE = Progress(7, "0:b.000001:900", 0.5, 120, 40.0, (), ())


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    return pipeline_create(spec_of(GOOD), by=ADA, now=now)


def schema(number: int = 1, *, table: str = "orders", ddl: str = "", **columns: str) -> TableSchema:
    columns = {"id": "int(11)", "qty": "int(11)", **columns}
    made = tuple(Column(name, kind) for name, kind in columns.items())
    return TableSchema("shop", table, number, number * 100, made, ("id",), ddl)


def the_table() -> CapturedTable:
    return CapturedTable.objects.get(table="orders")


def test_schemas_make_tables_and_the_same_again_nothing(shop: Pipeline, now: datetime) -> None:
    for _ in range(2):
        schemas_take(shop, [schema(), schema(table="items")], now=now)
    assert list(shop.tables.order_by("pk").values_list("target_table", "schema_number")) == [
        ("items", 1), ("orders", 1),
    ]  # fmt: skip
    assert SchemaChange.objects.count() == 2
    assert set(SchemaChange.objects.values_list("decision", flat=True)) == {"none"}


def test_a_change_that_loses_nothing_is_approved_by_rule(shop: Pipeline, now: datetime) -> None:
    wider = schema(2, ddl="ALTER TABLE orders MODIFY qty bigint", qty="bigint(20)")
    schemas_take(shop, [schema(), wider], now=now)
    change = SchemaChange.objects.get(number=2)
    assert (change.change_class, change.decision, change.decided_by) == (
        "auto",
        "approved",
        "rules",
    )
    assert change.changes[0]["reason"]


def test_a_change_that_may_lose_holds_its_table_alone(shop: Pipeline, now: datetime) -> None:
    text = schema(2, ddl="ALTER TABLE orders MODIFY qty varchar(9)", qty="varchar(9)")
    schemas_take(shop, [schema(), schema(table="items"), text], now=now)
    assert SchemaChange.objects.get(number=2).decision == "waiting"
    states = {row.table: table_row(row).state for row in tables_of(shop)}
    assert states == {"orders": TableState.HELD, "items": TableState.LOADING}
    CapturedTable.objects.update(location="file:/ods/t")
    by_name = {one.name: one for one in orders_of(LAKE).pipelines[0].tables}
    assert [one.is_held for one in by_name["shop.orders"].schemas] == [False, True]
    assert [one.is_held for one in by_name["shop.items"].schemas] == [False]


def test_progress_is_counted_once(shop: Pipeline, now: datetime) -> None:
    progress_take(shop, IDLE, now=now)
    progress_take(shop, replace(IDLE, total=150, behind_seconds=4.0), now=now)
    # A report that was lost is made up for by the next.
    progress_take(shop, replace(IDLE, total=160, behind_seconds=0.0), now=now)
    shop.refresh_from_db()
    assert (shop.n_rows, shop.batch, shop.position) == (160, 7, "0:b.000001:900")
    (minute,) = PipelineMinute.objects.all()
    assert (minute.n_rows, minute.capture_lag, minute.apply_lag) == (160, 4.0, None)


def test_a_full_load_ends_also_where_its_end_was_not_told(shop: Pipeline, now: datetime) -> None:
    schemas_take(shop, [schema()], now=now)
    loading = replace(IDLE, loads=(Load("shop", "orders", rows=50),))
    progress_take(shop, loading, now=now)
    assert (the_table().n_loaded, the_table().loaded_at) == (50, None)
    progress_take(shop, IDLE, now=now)
    assert the_table().loaded_at == now
    progress_take(shop, loading, now=now)  # somebody asked for it again
    assert the_table().loaded_at is None


def test_tables_that_cannot_be_captured_are_shown_with_the_reason(
    shop: Pipeline, now: datetime
) -> None:
    told = replace(IDLE, refused=(("shop.log", "It has no primary key."),))
    for _ in range(2):
        progress_take(shop, told, now=now)
    (row,) = tables_of(shop)
    assert (str(row), table_row(row).why) == ("shop.log", "It has no primary key.")
    assert not has_orders(LAKE)
    schemas_take(shop, [schema(table="log")], now=now)
    progress_take(shop, IDLE, now=now)
    (row,) = tables_of(shop)
    assert (row.refused, row.schema_number) == ("", 1)


def test_why_a_capture_stopped_is_shown_until_it_goes_on(shop: Pipeline, now: datetime) -> None:
    error = ExternalFailure("cdc.access", "It refuses the user.", service="mysql", retryable=False)
    problem_take(shop, error, now=now)
    (row,) = pipeline_rows(Pipeline.objects.all(), now=now)
    assert (row.state, row.pipeline.problem) == (PipelineState.FAILED, "It refuses the user.")
    progress_take(shop, IDLE, now=now)
    (row,) = pipeline_rows(Pipeline.objects.all(), now=now)
    assert row.state is PipelineState.RUNNING


def test_minutes_are_kept_for_some_days(shop: Pipeline, now: datetime) -> None:
    minute_add(shop, n_rows=1, now=now - timedelta(days=8, minutes=1))
    minute_add(shop, n_rows=1, now=now)
    assert [one.minute for one in PipelineMinute.objects.all()] == [now]


@pytest.mark.parametrize(
    ("days", "applied", "left"),
    [(8, 5, [4, 5]), (8, 3, [3, 4, 5]), (6, 5, [1, 2, 3, 4, 5]), (8, 0, [1, 2, 3, 4, 5])],
)
def test_only_what_is_applied_and_old_is_removed(
    shop: Pipeline, now: datetime, days: int, applied: int, left: list[int]
) -> None:
    log = open_changelog(shop)
    for number in range(1, 6):
        log.append(number, Header("shop", 1, "0:b.000001:4", "0:b.000001:9", 0, 0), [])
    Pipeline.objects.update(applied_batch=applied)
    minute_add(shop, batch=4, now=now - timedelta(days=days, minutes=-5))
    assert changelog_trim(shop, log, now=now) == 5 - len(left)
    assert [batch.number for batch in log.read(left[0] - 1)] == left


class TestWhatTheApplyTells:
    """Files of the run's spool."""

    @pytest.fixture
    def run(self, shop: Pipeline, now: datetime) -> Run:
        schemas_take(shop, [schema()], now=now)
        made = Run.objects.create(
            lake=LAKE, kind=APPLY_KIND, state=RunState.RUNNING, queued_at=now, progress_n=1
        )
        spool = new_spool(made)
        spool.create()
        made.spool = str(spool.root)
        made.save(update_fields=["spool"])
        return made

    def tell(self, run: Run, folder: str, told: PipelineReport | TableReport) -> None:
        spool = open_spool(run)
        place = spool.results.child(folder)
        spool.fs.make_directories(place, mode=0o700)
        spool.fs.replace(place.child(f"{told.id}.json"), msgspec.json.encode(told))

    def told(self, **fields: object) -> TableReport:
        report = TableReport(the_table().pk, "live", batch=9, n_upserted=100, n_deleted=2)
        return msgspec.structs.replace(report, **fields)

    def test_counts_grow_by_what_is_new(self, run: Run, now: datetime) -> None:
        self.tell(run, "tables", self.told(changed_at=int(now.timestamp() * 1_000)))
        seen = results_hear(run, {}, now=now)
        assert results_hear(run, seen, now=now) == seen
        assert results_hear(run, {}, now=now)  # heard twice it counts once
        row = the_table()
        assert (row.n_upserts, row.n_deletes, row.applied_batch) == (100, 2, 9)
        assert (row.applied_at, row.data_at) == (now, now)
        self.tell(run, "tables", self.told(n_upserted=130, batch=11))
        results_hear(run, {}, now=now)
        assert (the_table().n_upserts, the_table().applied_batch) == (130, 11)

    def test_a_program_that_began_again_counts_from_nothing(self, run: Run, now: datetime) -> None:
        self.tell(run, "tables", self.told())
        results_hear(run, {}, now=now)
        run.epoch += 1
        self.tell(run, "tables", self.told(n_upserted=5, batch=10))
        results_hear(run, {}, now=now)
        assert the_table().n_upserts == 105

    def test_a_table_that_fails_says_why_and_others_go_on(self, run: Run, now: datetime) -> None:
        failure = Failure("cdc.apply", "No space is left.", now.isoformat())
        self.tell(run, "tables", self.told(failure=failure, state="failing", n_in_quarantine=4))
        results_hear(run, {}, now=now)
        (row,) = tables_of(Pipeline.objects.get())
        assert table_row(row).state is TableState.FAILED
        assert (row.problem, row.n_quarantined) == ("No space is left.", 4)

    def test_a_table_of_another_lake_is_left_alone(self, run: Run, now: datetime) -> None:
        CapturedTable.objects.update(lake="other")
        self.tell(run, "tables", self.told())
        results_hear(run, {}, now=now)
        assert the_table().n_upserts == 0

    def test_half_a_file_is_read_at_the_next_beat(self, run: Run, now: datetime) -> None:
        self.tell(run, "tables", self.told())
        spool = open_spool(run)
        place = spool.results.child("tables", f"{the_table().pk}.json")
        whole = spool.fs.read(place)
        spool.fs.replace(place, whole[:20])
        assert results_hear(run, {}, now=now) == {}
        spool.fs.replace(place, whole)
        assert results_hear(run, {}, now=now)

    def test_a_changelog_that_cannot_be_read_is_the_pipelines_problem(
        self, run: Run, now: datetime
    ) -> None:
        failure = Failure("cdc.record", "Batch 4 is no batch.", now.isoformat())
        told = PipelineReport(Pipeline.objects.get().pk, "failing", lag_seconds=8, failure=failure)
        self.tell(run, "pipelines", told)
        results_hear(run, {}, now=now)
        assert Pipeline.objects.get().apply_problem == "Batch 4 is no batch."
        assert PipelineMinute.objects.get().apply_lag == 8

    def test_a_beat_hears_and_tells(self, run: Run, now: datetime) -> None:
        CapturedTable.objects.update(location="file:/ods/orders")
        self.tell(run, "tables", self.told())
        ApplyKind().beat(run)
        control = open_spool(run).read_control()
        (pipeline,) = control["apply"]["pipelines"]
        assert [one["table"] for one in pipeline["tables"]] == ["orders"]
        assert control["seen"]
        assert the_table().n_upserts == 100

    def test_one_run_of_a_lake_is_wanted(self, run: Run, now: datetime) -> None:
        assert ApplyKind().scheduled_params(LAKE, now=now) is None
        Run.objects.update(state=RunState.DONE, finished_at=now)
        assert ApplyKind().scheduled_params(LAKE, now=now) == {}
        Run.objects.update(state=RunState.FAILED)
        assert ApplyKind().scheduled_params(LAKE, now=now) is None
