"""Comparisons: when they are due, what they are asked, what is kept, who may repair."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from pipelines.cdc.applying.domain.messages import TableOrder
from pipelines.cdc.capture.domain.repairs import Repaired
from pipelines.cdc.capture.engine.progress import Progress
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.control.domain.spec import spec_of, topics_spec
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.reports import progress_take
from pipelines.cdc.control.services.sources import config_of
from pipelines.cdc.reconciling.domain.messages import PASSWORD, read_request
from pipelines.cdc.reconciling.run_kinds import CompareKind
from pipelines.cdc.reconciling.selectors.comparisons import table_comparison
from pipelines.cdc.reconciling.services import results
from pipelines.cdc.reconciling.services.repairs import repair_request
from pipelines.cdc.reconciling.services.results import differences_tell
from pipelines.cdc.reconciling.services.schedules import (
    KIND,
    comparison_request,
    comparisons_due,
    schedule_of,
    schedule_set,
)
from pipelines.models import (
    CapturedTable,
    DifferingKey,
    Pipeline,
    SchemaChange,
    TableComparison,
    TableRepair,
)
from portal.access.actors import Actor
from portal.audit.models import AuditEvent
from portal.catalog.services.source_comparisons import SourceComparison
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.notices.models import Notice
from portal.runs.models import Run
from tests.component.conftest import LAKE, People
from tests.component.pipelines.cdc.control.test_pipeline_pages import page, signed_in
from tests.component.pipelines.cdc.control.test_topics import GOOD as TOPICS
from tests.component.pipelines.cdc.reconciling.compared import (
    DIFFERENT,
    WITH_EXTRA,
    captured_table,
    compare,
)
from tests.unit.pipelines.cdc.control.test_spec import GOOD

pytestmark = pytest.mark.django_db

ADA = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)
OTTO = Actor("otto", is_staff=True, is_admin=False, is_fresh=True)
STAN = Actor("stan", is_staff=False, is_admin=False)
DAY = timedelta(days=1)


@pytest.fixture
def shop(lake: LakeConfig, now: datetime, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_SHOP", "secret")
    return pipeline_create(spec_of(GOOD), by=ADA, now=now)


@pytest.fixture
def table(shop: Pipeline, now: datetime) -> CapturedTable:
    return captured_table(shop, now)


def runs() -> list[Run]:
    return list(Run.objects.filter(kind=KIND).order_by("queued_at"))


def test_a_pipeline_is_compared_once_a_day_after_its_hour(shop: Pipeline, now: datetime) -> None:
    assert schedule_of(shop).hour == 2
    comparisons_due(LAKE, now=now)
    assert runs() == [], "it was created after the hour of this day"
    begin = (now + DAY).replace(hour=2, minute=0)
    for at in (begin - timedelta(hours=9), begin + timedelta(hours=9), begin + timedelta(hours=9)):
        comparisons_due(LAKE, now=at)
    (run,) = runs()
    assert (run.params, run.subject_id) == ({"pipeline": shop.pk, "tables": []}, "shop")
    comparisons_due(LAKE, now=begin + timedelta(hours=9) + DAY)
    assert len(runs()) == 2


def test_without_an_hour_and_paused_nothing_is_compared_by_itself(
    shop: Pipeline, now: datetime
) -> None:
    schedule_set(shop, hour=None, rows_per_second=5_000, by=OTTO, now=now)
    comparisons_due(LAKE, now=now + 2 * DAY)
    schedule_set(shop, hour=0, rows_per_second=5_000, by=OTTO, now=now)
    schedule_set(shop, hour=0, rows_per_second=5_000, by=OTTO, now=now)
    Pipeline.objects.update(desired=Desired.PAUSED.value)
    comparisons_due(LAKE, now=now + 2 * DAY)
    assert runs() == []
    acts = AuditEvent.objects.filter(action="pipelines.comparison_scheduled")
    assert acts.count() == 2


@pytest.mark.parametrize(("hour", "rate"), [(24, 5_000), (-1, 5_000), (3, 0), (3, 9_999_999)])
def test_a_schedule_that_is_none_is_refused(
    shop: Pipeline, now: datetime, hour: int, rate: int
) -> None:
    with pytest.raises(RuleViolation) as refused:
        schedule_set(shop, hour=hour, rows_per_second=rate, by=OTTO, now=now)
    assert refused.value.code == "comparison.schedule"


def test_one_comparison_of_a_pipeline_runs_at_a_time(table: CapturedTable, now: datetime) -> None:
    shop = table.pipeline
    run = comparison_request(shop, table, by=OTTO, now=now)
    assert run.params["tables"] == [table.pk]
    with pytest.raises(StaleState) as refused:
        comparison_request(shop, None, by=OTTO, now=now)
    assert refused.value.code == "comparison.running"
    Run.objects.update(finished_at=now)
    assert comparison_request(shop, None, by=OTTO, now=now).params["tables"] == []
    with pytest.raises(NotAllowed):
        comparison_request(shop, None, by=STAN, now=now)


class TestWhatIsAsked:
    """The request of the program."""

    def asked(self, table: CapturedTable, now: datetime) -> Any:
        run = comparison_request(table.pipeline, None, by=OTTO, now=now)
        kind = CompareKind()
        assert kind.environment(run) == {PASSWORD: "secret"}
        request = kind.request(run)
        assert "secret" not in str(request)
        return read_request(request["reconcile"])

    def test_a_table_goes_out_as_the_apply_has_it(
        self, table: CapturedTable, now: datetime
    ) -> None:
        request = self.asked(table, now)
        (task,) = request.tasks
        assert isinstance(task.order, TableOrder)
        assert (task.order.location, task.schema.number, task.reason) == ("file:/ods/orders", 1, "")
        assert (request.server.epoch, request.rows_per_second) == (0, 20_000)

    def test_a_changelog_in_kafka_goes_out_with_its_log_in_by_name(
        self, table: CapturedTable, now: datetime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_KAFKA", "other secret")
        place = KafkaPlace("b:9092", "changes", "lake", "KAFKA")
        Pipeline.objects.update(changelog="KAFKA", kafka=msgspec.to_builtins(place))
        table.refresh_from_db()
        run = comparison_request(table.pipeline, None, by=OTTO, now=now)
        assert CompareKind().environment(run) == {
            PASSWORD: "secret",
            "LAKEWARDEN_CDC_PASSWORD_KAFKA": "other secret",
        }
        asked = CompareKind().request(run)["reconcile"]
        assert "secret" not in str(asked)
        request = read_request(asked)
        assert (request.kafka, [one.reason for one in request.tasks]) == (place, [""])
        monkeypatch.delenv("LAKEWARDEN_CDC_PASSWORD_KAFKA")
        with pytest.raises(RuleViolation, match="LAKEWARDEN_CDC_PASSWORD_KAFKA is not set"):
            CompareKind().environment(run)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"loaded_at": None}, "full load"),
            ({"desired": "PAUSED"}, "paused"),
        ],
    )
    def test_what_cannot_be_compared_says_why(
        self, table: CapturedTable, now: datetime, change: dict[str, Any], reason: str
    ) -> None:
        CapturedTable.objects.update(**change)
        (task,) = self.asked(table, now).tasks
        assert reason in task.reason

    def test_a_table_whose_schema_waits_is_left_out(
        self, table: CapturedTable, now: datetime
    ) -> None:
        first = SchemaChange.objects.get()
        first.pk, first.number, first.decision = None, 2, "waiting"
        first.save()
        CapturedTable.objects.update(schema_number=2)
        (task,) = self.asked(table, now).tasks
        assert "waits for a decision" in task.reason

    def test_a_pipeline_that_was_deleted_has_nothing_to_compare(
        self, table: CapturedTable, now: datetime
    ) -> None:
        run = comparison_request(table.pipeline, None, by=OTTO, now=now)
        Pipeline.objects.all().delete()
        assert CompareKind().environment(run) == {}
        with pytest.raises(RuleViolation):
            CompareKind().request(run)


def test_topics_have_no_source_to_compare_with(
    lake: LakeConfig, people: People, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_KAFKA", "secret")
    events = pipeline_create(topics_spec(TOPICS), by=ADA, now=now)
    with pytest.raises(RuleViolation) as refused:
        comparison_request(events, None, by=OTTO, now=now)
    assert refused.value.code == "comparison.topics"
    with pytest.raises(RuleViolation):
        schedule_set(events, hour=3, rows_per_second=5_000, by=OTTO, now=now)
    comparisons_due(LAKE, now=now + 2 * DAY)
    assert runs() == []
    otto = signed_in(people.operator)
    text = page(otto, "comparisons", "events")
    assert "no rows to compare with" in text
    assert "Compare now" not in text
    assert "Comparisons" not in page(otto, "pipeline", "events")


def test_what_differs_is_kept_and_told_once(
    table: CapturedTable, people: People, now: datetime
) -> None:
    compare(table, now)
    assert differences_tell(LAKE, now=now) == 0
    found = compare(table, now + DAY, **WITH_EXTRA)
    assert (found.n_differences, found.requested_by) == (2, "otto")
    keys = list(DifferingKey.objects.order_by("pk").values_list("kind", "key"))
    assert keys == [("missing", {"id": "7"}), ("extra", {"id": "8"})]
    assert differences_tell(LAKE, now=now) == 1
    assert differences_tell(LAKE, now=now) == 0
    mail = Notice.objects.get(recipient="otto")
    assert "Source and lake differ: shop.orders" in mail.subject
    assert "1 row missing in the lake, 1 extra, 0 different" in mail.text


def test_old_comparisons_go(
    table: CapturedTable, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "KEPT", 2)
    for day in range(4):
        compare(table, now + day * DAY, **DIFFERENT)
    kept = TableComparison.objects.order_by("compared_at").values_list("compared_at", flat=True)
    assert list(kept) == [now + 2 * DAY, now + 3 * DAY]
    assert DifferingKey.objects.count() == 2


class TestRepair:
    """An order to the capture."""

    def order(self, found: TableComparison, by: Actor, now: datetime) -> TableRepair:
        return repair_request(found.captured, found.pk, reason="disk lost", by=by, now=now)

    def test_it_is_ordered_once_and_told_to_the_capture(
        self, table: CapturedTable, now: datetime
    ) -> None:
        found = compare(table, now, **DIFFERENT)
        made = self.order(found, OTTO, now)
        assert self.order(found, OTTO, now) == made
        (repair,) = config_of(table.pipeline).repairs
        assert (repair.id, repair.name, repair.keys) == (
            made.pk,
            ("shop", "orders"),
            ({"id": "7"},),
        )
        done = Repaired(made.pk, n_rows=1, n_deletes=0, batch=12)
        told = Progress(12, "0:bin.000001:950", 0.0, 9, 1.0, (), (), (done,))
        for at in (now, now + DAY):
            progress_take(table.pipeline, told, now=at)
        made.refresh_from_db()
        assert (made.done_at, made.batch, made.n_rows) == (now, 12, 1)
        assert config_of(table.pipeline).repairs == ()
        assert AuditEvent.objects.filter(action="pipelines.repair_ordered").count() == 1

    @pytest.mark.parametrize("by", [OTTO, replace(ADA, is_fresh=False), STAN])
    def test_deleting_from_the_lake_needs_an_admin_who_logged_in_lately(
        self, table: CapturedTable, now: datetime, by: Actor
    ) -> None:
        found = compare(table, now, **WITH_EXTRA)
        with pytest.raises(NotAllowed):
            self.order(found, by, now)
        assert self.order(found, ADA, now).n_keys == 2

    def test_many_rows_need_an_admin_too(self, table: CapturedTable, now: datetime) -> None:
        found = compare(table, now, **{**DIFFERENT, "n_missing": 1_001})
        with pytest.raises(NotAllowed) as refused:
            self.order(found, OTTO, now)
        assert refused.value.code == "pipeline.repair"

    def test_only_what_the_last_comparison_found_is_repaired(
        self, table: CapturedTable, now: datetime
    ) -> None:
        old = compare(table, now, **DIFFERENT)
        last = compare(table, now + DAY)
        for found in (old, last):
            with pytest.raises(StaleState) as refused:
                self.order(found, ADA, now)
            assert refused.value.code == "comparison.old"
        with pytest.raises(RuleViolation):
            repair_request(table, last.pk, reason=" ", by=ADA, now=now)


def test_checks_of_the_lake_ask_what_the_last_comparison_found(
    shop: Pipeline, now: datetime
) -> None:
    table = captured_table(shop, now)
    target = TableName(LakeId(table.lake), table.target_db, table.target_table)
    assert table_comparison(replace(target, table="other")) is None
    assert table_comparison(target) == SourceComparison(None)
    compare(table, now, **WITH_EXTRA)
    found = table_comparison(target)
    assert found is not None
    assert found.at is not None
    assert found.n_differences == 2
    compare(table, now + timedelta(hours=1), state="failed", note="The source does not answer.")
    assert table_comparison(target) == found, "one that failed says nothing"
    compare(table, now + timedelta(hours=2))
    assert getattr(table_comparison(target), "n_differences", None) == 0
