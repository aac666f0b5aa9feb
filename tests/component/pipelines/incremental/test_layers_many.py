"""Layers beside others: of the same name, of many that are due, and of several lakes."""

from datetime import datetime, timedelta

import msgspec
import pytest

from pipelines.incremental.domain.definitions import Source
from pipelines.incremental.domain.messages import read_request
from pipelines.incremental.services import requests
from pipelines.incremental.services.requests import (
    layer_run,
    layers_due,
    request_of,
)
from pipelines.models import Layer
from portal.access.gauges import all_gauges
from portal.runs.models import Run
from tests.component.pipelines.incremental.layered import (
    ADA,
    PAID,
    LayerLake,
    advanced,
    declare,
    took,
)

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
SHOPS, SQL = (Source("ods.shops"),), "SELECT id, at FROM ods.shops"


def test_a_table_of_somebody_else_with_the_name_of_a_target_stops_its_layer_alone(
    hive: LayerLake, now: datetime
) -> None:
    first, second = declare(now), declare(now, PAID)
    hive.tables["dwd", "orders"] = "hudi"
    assert layers_due("main", now=now) == 2
    run = Run.objects.get()
    assert len(read_request(request_of(run)).layers) == 2, "its own table"
    hive.places["dwd", "orders"] = "file:/elsewhere/orders"
    assert [one.id for one in read_request(request_of(run)).layers] == [second.pk]
    first.refresh_from_db()
    assert first.problem_code == "layer.target"


def test_no_layer_starves_where_more_are_due_than_one_run_takes(
    hive: LayerLake, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST_LAYERS", 2)
    for n in range(4):
        declare(now, msgspec.structs.replace(PAID, target=f"dws.paid_{n}", sources=SHOPS, sql=SQL))
    Layer.objects.update(every_minutes=1)
    seen = set()
    for n in range(2):
        layers_due("main", now=now + n * MINUTE)
        run = Run.objects.get(finished_at=None)
        seen.update(run.params["layers"])
        Run.objects.update(finished_at=now)
    assert len(seen) == 4


def test_layers_of_two_lakes_are_told_apart_by_who_watches(hive: LayerLake, now: datetime) -> None:
    row = declare(now)
    took(layer_run(row, by=ADA, now=now), advanced(row, now))
    other = Layer.objects.get(pk=row.pk)
    edges = list(other.edges.all())
    other.pk, other.lake = None, "other"
    other.save()
    for one in edges:
        one.pk, one.layer = None, other
        one.save()
    for gauge in all_gauges():
        if gauge.name.startswith("layer_"):
            labels = [tuple(sorted(found.items())) for found, _ in gauge.samples()]
            assert labels
            assert len(set(labels)) == len(labels), gauge.name
