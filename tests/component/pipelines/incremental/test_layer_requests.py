"""What people and commits ask of a layer: all rows, some partitions, a pause, an advance."""

from datetime import datetime, timedelta

import pytest

from pipelines.incremental.domain.messages import read_request
from pipelines.incremental.services.declaring import (
    Timing,
    layer_edit,
    layer_pause,
    layer_resume,
)
from pipelines.incremental.services.events import FOLLOWER
from pipelines.incremental.services.requests import (
    layer_backfill,
    layer_reread,
    layer_run,
    layers_due,
    request_of,
)
from pipelines.models import (
    Layer,
    LayerSource,
)
from portal.audit.models import AuditEvent
from portal.catalog.services.table_commits import commits_noticed
from portal.events.messages import LakeEvent
from portal.lake.errors import RuleViolation, StaleState
from portal.runs.models import Run
from tests.component.pipelines.incremental.layered import (
    ADA,
    ORDERS,
    LayerLake,
    advanced,
    declare,
    edge,
    took,
)

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def test_all_rows_are_read_once_for_each_reason(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    layer_reread(row, reason="a wrong rate", by=ADA, now=now)
    run = layer_run(row, by=ADA, now=now)
    (order,) = read_request(request_of(run)).layers
    assert order.full == "ada: a wrong rate"
    layer_reread(row, reason="another", by=ADA, now=now)
    took(run, advanced(row, now, mode="full", reason=order.full))
    row.refresh_from_db()
    assert row.full_reason == "ada: another", "what was asked meanwhile is still to come"
    Run.objects.update(finished_at=now)
    second = layer_run(row, by=ADA, now=now)
    took(second, advanced(row, now + MINUTE, mode="full", reason="ada: another"))
    row.refresh_from_db()
    assert row.full_reason == ""


def test_a_backfill_moves_no_position(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    took(layer_run(row, by=ADA, now=now), advanced(row, now))
    with pytest.raises(RuleViolation):
        layer_backfill(row, low="2026-11-02", high="2026-11-01", by=ADA, now=now)
    assert layer_backfill(row, low="9", high="10", by=ADA, now=now).params["backfill"]
    run = layer_backfill(row, low="2026-11-01", high="2026-11-02", by=ADA, now=now)
    (order,) = read_request(request_of(run)).layers
    assert order.backfill is not None
    later = advanced(row, now + MINUTE, mode="backfill", edges=(edge("ods.orders", now + MINUTE),))
    took(run, later)
    assert LayerSource.objects.get(table="orders").read_at == now
    row.refresh_from_db()
    assert row.advanced_at == now


def test_a_paused_layer_is_not_advanced(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    for _ in range(2):
        layer_pause(row, reason="a wrong rate", by=ADA, now=now)
    assert layers_due("main", now=now) == 0
    with pytest.raises(StaleState):
        layer_run(row, by=ADA, now=now)
    for _ in range(2):
        layer_resume(row, by=ADA, now=now)
    assert layers_due("main", now=now) == 1
    assert AuditEvent.objects.filter(action__startswith="layers.").count() == 3


def test_a_commit_of_its_source_advances_a_layer_soon(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    later = now + timedelta(hours=1)
    Layer.objects.update(next_at=later)
    FOLLOWER.on_events([LakeEvent("main", 1, now, "ALTER_TABLE", "ods", "shops")], now)
    assert Layer.objects.get().next_at == later, "a static table is no reason"
    FOLLOWER.on_events([LakeEvent("other", 1, now, "ALTER_TABLE", "ods", "orders")], now)
    assert Layer.objects.get().next_at == later
    Layer.objects.update(on_commit=False)
    FOLLOWER.on_events([LakeEvent("main", 2, now, "ALTER_TABLE", "ods", "orders")], now)
    assert Layer.objects.get().next_at == later
    Layer.objects.update(on_commit=True)
    FOLLOWER.on_events([LakeEvent("main", 3, now, "ALTER_TABLE", "ods", "orders")], now)
    assert Layer.objects.get(pk=row.pk).next_at == now
    assert layers_due("main", now=now) == 1
    FOLLOWER.on_events([LakeEvent("main", 4, now, "ALTER_TABLE", "ods", "orders")], now)
    assert Layer.objects.get().next_at == now + 5 * MINUTE, "a source that commits all the time"
    Layer.objects.update(next_at=later)
    commits_noticed("main", [("ods", "orders")], now=now + 10 * MINUTE)
    assert Layer.objects.get().next_at == now + 10 * MINUTE, "a scheduler said so"
    with pytest.raises(RuleViolation, match="at most every 1 to"):
        layer_edit(row, ORDERS, timing=Timing(pause_minutes=0), version=1, by=ADA, now=now)
