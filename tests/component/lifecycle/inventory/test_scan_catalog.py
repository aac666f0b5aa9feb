"""A scan's result feeds the catalog, once."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from lifecycle.schedule.run_kinds.scan import ScanKind
from portal.catalog.models import Table
from portal.connectors.lake_config import LakeConfig
from tests.component.lifecycle.scanned import PICTURE, scan

pytestmark = pytest.mark.django_db


def test_the_tables_of_a_scan_are_in_the_catalog(lake: LakeConfig, now: datetime) -> None:
    generation = scan(lake, now=now)
    orders = Table.objects.get(db="sales", name="orders", is_living=True)
    assert (orders.owner, orders.db_owner, orders.format) == ("olga", "sara", "parquet")
    assert (orders.metastore_id, orders.event_id) == (11, 7)
    assert orders.last_seen_at == generation.read_at

    later = replace(
        PICTURE, tables=PICTURE.tables[:2], read_at=PICTURE.read_at + timedelta(hours=1)
    )
    scan(lake, later, now=now + timedelta(hours=1))
    gone = Table.objects.get(name="logs")
    assert gone.deleted_at == later.read_at
    rows = list(Table.objects.order_by("pk").values())
    ScanKind().ingest(generation.run, {"outcome": "done", "result": generation.totals})
    assert list(Table.objects.order_by("pk").values()) == rows
