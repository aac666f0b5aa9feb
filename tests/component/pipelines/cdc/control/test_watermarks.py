"""The watermark of a captured table: everything before it is in the lake, or it is not told."""

from datetime import datetime, timedelta

import pytest

from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.cdc.control.services.reports import minute_add
from pipelines.models import CapturedTable, Pipeline
from portal.access.lakes import get_lake
from portal.catalog.services.watermarks import Watermark, watermark_of
from portal.connectors.lake_config import LakeConfig
from portal.lake.names import TableName
from tests.component.conftest import LAKE
from tests.component.pipelines.cdc.control.test_pipelines import ADA, captured
from tests.unit.pipelines.cdc.control.test_spec import GOOD

pytestmark = pytest.mark.django_db


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    shop = pipeline_create(spec_of(GOOD), by=ADA, now=now)
    Pipeline.objects.update(batch=9, position_at=now - timedelta(seconds=3))
    return shop


def asked(table: str = "orders") -> Watermark | None:
    return watermark_of(TableName(get_lake(LAKE).lake, "ods", table))


def at() -> datetime | None:
    found = asked()
    assert found is not None
    return found.at


def test_a_table_that_has_every_batch_is_where_the_capture_is(
    shop: Pipeline, now: datetime
) -> None:
    captured(shop, loaded_at=now, applied_batch=9)
    assert at() == now - timedelta(seconds=3)
    assert asked("other") is None


def test_a_table_that_is_behind_is_where_the_capture_was(shop: Pipeline, now: datetime) -> None:
    captured(shop, loaded_at=now, applied_batch=7)
    assert at() is None, "no minute is as old"
    for ago, batch in ((9, 6), (8, 7), (7, 8)):
        then = now - timedelta(minutes=ago)
        minute_add(shop, capture_lag=20, batch=batch, now=then + timedelta(seconds=30))
    assert at() == now - timedelta(minutes=8, seconds=20)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"n_aside": 1}, "records of it wait"),
        ({"loaded_at": None}, "its full load is not over"),
        ({"refused": "It has no primary key."}, "It has no primary key."),
        ({"applied_batch": 0}, "nothing of it is applied yet"),
    ],
)
def test_where_nothing_can_be_said_the_reason_is(
    shop: Pipeline, now: datetime, fields: dict[str, object], reason: str
) -> None:
    captured(shop, loaded_at=now, applied_batch=9)
    CapturedTable.objects.update(**fields)
    found = asked()
    assert found is not None
    assert (found.at, found.reason) == (None, reason)
