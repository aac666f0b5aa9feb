"""Layers are declared, asked for, and taken in; how far they are is told to others."""

from datetime import datetime, timedelta
from uuid import uuid4

import msgspec
import pytest
from pytest_django.fixtures import Settings

from pipelines.commits.domain.holds import HOLD
from pipelines.incremental.domain.definitions import Layer as Definition
from pipelines.incremental.domain.definitions import Source
from pipelines.incremental.domain.messages import read_request
from pipelines.incremental.domain.states import LayerState
from pipelines.incremental.run_kinds import LayerKind
from pipelines.incremental.selectors.layers import get_layer_for_user
from pipelines.incremental.services.declaring import (
    Timing,
    layer_create,
    layer_delete,
    layer_edit,
)
from pipelines.incremental.services.requests import (
    layer_run,
    layers_due,
    request_of,
)
from pipelines.incremental.services.results import KEPT, advances_trim, runs_failed
from pipelines.models import (
    Layer,
    LayerAdvance,
    LayerSource,
    Materialization,
)
from portal.access.actors import Actor
from portal.access.models import DatabaseAdministrator
from portal.audit.models import AuditEvent
from portal.catalog.services.change_readers import change_readers_of
from portal.catalog.services.watermarks import Watermark, watermark_of
from portal.lake.errors import NotAllowed, PortalError, RuleViolation, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.ui.selectors import events_of_table
from tests.component.conftest import People
from tests.component.pipelines.incremental.layered import (
    ADA,
    OLGA,
    ORDERS,
    PAID,
    LayerLake,
    advanced,
    declare,
    edge,
    took,
)

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
SHOPS, SQL = (Source("ods.shops"),), "SELECT id, at FROM ods.shops"


def name(text: str) -> TableName:
    return TableName.parse(LakeId("main"), text)


def mark(text: str) -> Watermark:
    found = watermark_of(name(text))
    assert found is not None
    return found


def test_staff_creates_a_layer_once_and_nobody_else(hive: LayerLake, now: datetime) -> None:
    with pytest.raises(NotAllowed):
        layer_create("main", ORDERS, by=OLGA, now=now)
    row = declare(now)
    assert declare(now).pk == row.pk
    assert row.location == f"file://{hive.root}/dwd.db/orders"
    assert sorted(map(str, row.edges.all())) == ["ods.orders", "ods.shops"]
    assert list(AuditEvent.objects.values_list("action", flat=True)) == ["layers.created"]
    assert not events_of_table("main", "dwd", "orders").exists(), "who sees the table reads no SQL"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"sources": (Source("ods.nope"),), "sql": "SELECT id, at, dt FROM ods.nope"}, "source"),
        ({"sources": (Source("ods.plain"),), "sql": "SELECT id, at, dt FROM ods.plain"}, "source"),
        ({"event_time": "gone"}, "source"),
        ({"sql": "DELETE FROM ods.orders"}, "statement"),
        ({"target": "ods.orders"}, "definition"),
        ({"target": "ods.plain"}, "target"),
        ({"sql": "", "function": "company.x:f"}, "definition"),
    ],
)
def test_what_cannot_be_kept_says_why(
    hive: LayerLake, now: datetime, changed: dict[str, object], code: str
) -> None:
    with pytest.raises(PortalError) as refused:
        declare(now, msgspec.structs.replace(ORDERS, **changed))
    assert refused.value.code == f"layer.{code}"
    assert not Layer.objects.exists()


def test_a_layer_makes_no_table_that_a_materialization_keeps(
    hive: LayerLake, now: datetime
) -> None:
    Materialization.objects.create(
        **{"lake": "main", "db": "dwd", "table": "orders", "identity": uuid4(), "sql": "SELECT 1"},
        **{"location": "file:/kept", "owner": "ada", "set_by": "ada"},
        **{"set_at": now, "next_at": now},
    )
    with pytest.raises(RuleViolation) as refused:
        declare(now)
    assert refused.value.code == "layer.target"


def test_a_circle_and_a_second_layer_of_a_target_are_refused(
    hive: LayerLake, now: datetime
) -> None:
    row = declare(now)
    declare(now, PAID)
    other = msgspec.structs.replace(ORDERS, lateness_minutes=11)
    with pytest.raises(RuleViolation) as refused:
        declare(now, other)
    assert refused.value.code == "layer.target"
    circle = msgspec.structs.replace(
        ORDERS, sources=(Source("dws.paid"),), sql="SELECT id, at, dt FROM dws.paid"
    )
    with pytest.raises(RuleViolation, match=r"dwd\.orders -> dws\.paid -> dwd\.orders") as refused:
        layer_edit(row, circle, timing=Timing(), version=1, by=ADA, now=now)
    assert refused.value.code == "layer.cycle"


def test_a_changed_definition_reads_all_rows_and_keeps_what_the_table_is_made_by(
    hive: LayerLake, now: datetime
) -> None:
    row = declare(now)
    other = msgspec.structs.replace(ORDERS, sql=ORDERS.sql + " WHERE o.id > 0")
    with pytest.raises(StaleState):
        layer_edit(row, other, timing=Timing(), version=0, by=ADA, now=now)
    layer_edit(row, other, timing=Timing(), version=1, by=ADA, now=now)
    row.refresh_from_db()
    assert (row.version, row.full_reason) == (2, "Its definition was changed.")
    moved = msgspec.structs.replace(other, key=("id", "at"))
    with pytest.raises(RuleViolation) as refused:
        layer_edit(row, moved, timing=Timing(), version=2, by=ADA, now=now)
    assert refused.value.code == "layer.fixed"


def test_a_layer_that_is_read_is_not_deleted_and_its_table_is_kept(
    hive: LayerLake, now: datetime
) -> None:
    row, above = declare(now), declare(now, PAID)
    with pytest.raises(RuleViolation, match=r"dws\.paid"):
        layer_delete(row, version=1, by=ADA, now=now)
    with pytest.raises(StaleState):
        layer_delete(above, version=0, by=ADA, now=now)
    for _ in range(2):
        layer_delete(above, version=1, by=ADA, now=now)
    layer_delete(row, version=1, by=ADA, now=now)
    assert not Layer.objects.exists()


def test_what_is_due_is_one_run_with_all_that_is_below_in_order(
    hive: LayerLake, now: datetime
) -> None:
    above, row = declare(now), None
    row = declare(now, PAID)
    Layer.objects.filter(pk=row.pk).update(next_at=now + timedelta(hours=1))
    assert layers_due("main", now=now) == 2
    assert layers_due("main", now=now + timedelta(hours=2)) == 0, "one has not ended"
    run = Run.objects.get(kind="pipelines.layer")
    assert run.params["layers"] == [above.pk, row.pk]
    orders = read_request(request_of(run)).layers
    assert [one.layer.target for one in orders] == ["dwd.orders", "dws.paid"]
    kinds = {one.table: one.format for order in orders for one in order.sources}
    assert kinds == {"ods.orders": "hudi", "ods.shops": "iceberg", "dwd.orders": "hudi"}


def test_only_the_earliest_run_of_a_lake_advances(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    layers_due("main", now=now)
    first = Run.objects.get()
    second = layer_run(row, by=ADA, now=now + MINUTE)
    assert layer_run(row, by=ADA, now=now + 2 * MINUTE).pk == second.pk
    kind = LayerKind()
    assert kind.waits(first, now=now) == ""
    assert "one writer" in kind.waits(second, now=now)


def test_a_source_that_is_gone_stands_at_its_layer(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    run = layer_run(row, by=ADA, now=now)
    del hive.tables["ods", "shops"]
    assert read_request(request_of(run)).layers == ()
    row.refresh_from_db()
    assert (row.problem_code, "ods.shops" in row.problem) == ("layer.source", True)


def test_a_target_is_as_far_as_its_event_time_less_lateness_and_tells_those_above(
    hive: LayerLake, now: datetime, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, above = declare(now), declare(now, PAID)
    assert mark("dwd.orders") == Watermark(name("dwd.orders"), None, "it was not advanced yet")
    assert watermark_of(name("ods.orders")) is None
    layers_due("main", now=now)
    run = Run.objects.get()
    assert took(run, advanced(row, now), advanced(above, now)) == 2
    assert mark("dwd.orders").at == now - 10 * MINUTE
    assert mark("dws.paid").at == now - 10 * MINUTE, "of the layer below in the same run"
    took(run, advanced(row, now), advanced(above, now))
    assert LayerAdvance.objects.count() == 2, "taken in again it is the same"
    row.refresh_from_db()
    assert row.advanced_at == now
    for after, state in ((timedelta(0), LayerState.CURRENT), (timedelta(days=1), LayerState.LATE)):
        monkeypatch.setattr("django.utils.timezone.now", lambda after=after: now + after)
        assert get_layer_for_user(row.pk, people.admin).badge == state


def test_a_commit_that_is_still_written_keeps_the_target_where_it_was(
    hive: LayerLake, now: datetime
) -> None:
    row = declare(now)
    took(layer_run(row, by=ADA, now=now), advanced(row, now))
    Run.objects.update(finished_at=now)
    later = now + timedelta(hours=1)
    behind = msgspec.structs.replace(edge("ods.orders", later), read_at=None, position="8")
    edges = (behind, edge("ods.shops", later))
    took(layer_run(row, by=ADA, now=later), advanced(row, later, edges=edges))
    assert mark("dwd.orders").at == now - 10 * MINUTE
    source = LayerSource.objects.get(table="orders")
    assert (source.position, source.read_at) == ("8", now)
    row.refresh_from_db()
    assert row.advanced_at == now


def test_a_layer_that_never_had_all_of_its_source_says_why(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    behind = msgspec.structs.replace(edge("ods.orders", now), read_at=None)
    took(
        layer_run(row, by=ADA, now=now), advanced(row, now, edges=(behind, edge("ods.shops", now)))
    )
    row.refresh_from_db()
    assert row.badge == LayerState.BEHIND
    assert row.watermark_reason == "ods.orders: an older commit of it was still being written"


def test_clocks_that_are_ahead_do_not_make_a_target_complete(
    hive: LayerLake, now: datetime
) -> None:
    row = declare(now)
    run = layer_run(row, by=ADA, now=now)
    edges = (edge("ods.orders", now, event_time=now + timedelta(days=3)), edge("ods.shops", now))
    took(run, advanced(row, now, edges=edges))
    assert mark("dwd.orders").at == now - 10 * MINUTE


def test_without_an_event_time_or_a_pipeline_nobody_knows(hive: LayerLake, now: datetime) -> None:
    row = declare(now, msgspec.structs.replace(ORDERS, event_time="", lateness_minutes=0))
    took(layer_run(row, by=ADA, now=now), advanced(row, now))
    found = mark("dwd.orders")
    assert found.at is None
    assert "no event time" in found.reason
    assert "ods.orders" not in found.reason, "who sees the target may not see its sources"


def test_a_layer_that_failed_stays_where_it_was(hive: LayerLake, now: datetime) -> None:
    row, above = declare(now), declare(now, PAID)
    layers_due("main", now=now)
    first = Run.objects.get()
    took(first, advanced(row, now), advanced(above, now))
    Run.objects.update(finished_at=now)
    later = now + timedelta(hours=1)
    layers_due("main", now=later)
    second = Run.objects.exclude(pk=first.pk).get()
    failed = advanced(row, later, state="failed", reason="It broke.", code="x", edges=())
    took(second, failed, advanced(above, later))
    row.refresh_from_db()
    assert (row.problem, row.watermark) == ("It broke.", now - 10 * MINUTE)
    assert mark("dws.paid").at is None, "what was asked of the layer below is not in this result"
    assert runs_failed(second, "The run ended.", now=later) == 0


def test_a_run_that_did_not_end_says_so_at_its_layers(hive: LayerLake, now: datetime) -> None:
    row, above = declare(now), declare(now, PAID)
    layers_due("main", now=now)
    run = Run.objects.get()
    took(run, advanced(row, now))
    assert runs_failed(run, "The run ended.", now=now) == 1
    above.refresh_from_db()
    assert (above.problem, above.problem_code) == ("The run ended.", "layer.run")


def test_operators_copy_no_rows_that_they_may_not_see(
    hive: LayerLake, people: People, now: datetime
) -> None:
    otto, olga = Actor("otto", is_staff=True, is_admin=False), hive.owner
    with pytest.raises(NotAllowed, match=rf"rows of ods\.orders, which otto .* owner {olga}") as no:
        layer_create("main", ORDERS, by=otto, now=now)
    assert no.value.code == "layer.rows"
    row = declare(now)
    other = msgspec.structs.replace(ORDERS, lateness_minutes=20)
    with pytest.raises(NotAllowed, match="Ask its owner"):
        layer_edit(row, other, timing=Timing(), version=1, by=otto, now=now)
    layer_edit(row, ORDERS, timing=Timing(7), version=1, by=otto, now=now)
    DatabaseAdministrator.objects.create(lake="main", db="ods", username="otto")
    layer_edit(row, other, timing=Timing(7), version=2, by=otto, now=now)
    with pytest.raises(NotAllowed, match=r"rows of dwd\.orders"):
        layer_create("main", PAID, by=otto, now=now)


def test_a_source_hears_what_it_keeps_for_its_reader_and_for_how_long(
    hive: LayerLake, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = declare(now)
    assert change_readers_of(name("ods.orders")) == [], "it has read nothing yet"
    took(layer_run(row, by=ADA, now=now), advanced(row, now))
    for after, is_capped in ((HOLD, False), (HOLD + MINUTE, True)):
        monkeypatch.setattr("django.utils.timezone.now", lambda after=after: now + after)
        (reader,) = change_readers_of(name("ods.orders"))
        assert (reader.name, reader.since) == (f"layer {row.pk}", now), "not its target's name"
        assert reader.is_capped is is_capped
    assert change_readers_of(name("ods.shops")) == [], "a static table is read as it is"


def test_old_advances_go(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    took(layer_run(row, by=ADA, now=now), advanced(row, now))
    assert advances_trim("main", now=now + KEPT) == 0
    assert advances_trim("main", now=now + KEPT + MINUTE) == 1


def test_a_function_needs_its_module_listed(
    hive: LayerLake, now: datetime, settings: Settings
) -> None:
    layer = Definition(
        target="dwd.notes", sources=(Source("ods.orders"),), key=("id",), function="company.x:f"
    )
    settings.LAKEWARDEN_LAYER_MODULES = ("company.x",)
    assert declare(now, layer).layer == layer
