"""A rule waits for the pipelines that fill the tables which its partitions are made of."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from portal.catalog.services import watermarks
from portal.catalog.services.watermarks import Watermark, register_watermarks
from portal.lake.errors import NotVisible, RuleViolation
from portal.lake.names import TableName
from quality.models import ExpectedPartition, FreshnessRule
from tests.component.conftest import People
from tests.component.quality.flag_lake import FlagLake
from tests.component.quality.freshness.test_ready_rules import (
    DAILY,
    DAY,
    MIDNIGHT,
    UNREADY,
    declare,
    look,
)

pytestmark = pytest.mark.django_db

MADE_OF = replace(DAILY, delay_minutes=30, source_tables=("shop.shops",))


@pytest.fixture
def applied(monkeypatch: pytest.MonkeyPatch) -> dict[str, datetime | None]:
    """Up to when a pipeline has applied each table that it fills."""
    until: dict[str, datetime | None] = {"shop.shops": None}

    def of(table: TableName) -> Watermark | None:
        name = f"{table.db}.{table.table}"
        return Watermark(table, until[name], "records of it wait") if name in until else None

    monkeypatch.setattr(watermarks, "_providers", {**watermarks._providers})
    register_watermarks("test", of)
    return until


def test_a_day_is_ready_once_its_sources_are_applied_up_to_its_end(
    hive: FlagLake, people: People, applied: dict[str, datetime | None]
) -> None:
    assert declare(people.owner, MADE_OF).source_tables == ("shop.shops",)
    hive.names["notes"] = [DAY]
    hive.parameters[DAY] = dict(UNREADY)
    late = MIDNIGHT + timedelta(hours=2)
    reasons = []
    for at in (None, MIDNIGHT + timedelta(minutes=29), MIDNIGHT + timedelta(minutes=30)):
        applied["shop.shops"] = at
        look(now=late)
        reasons.append(ExpectedPartition.objects.get().reason)
    assert "shop.shops: records of it wait" in reasons[0]
    assert "shop.shops is applied up to 2026-11-21 23:29:00 UTC" in reasons[1]
    assert reasons[2].startswith("The rule holds")
    assert hive.flags() == {DAY: "true"}
    # What is ready stays so, whatever becomes of the pipeline.
    applied["shop.shops"] = None
    look(now=late)
    assert hive.flags() == {DAY: "true"}


def test_a_table_that_a_pipeline_fills_itself_waits_without_being_named(
    hive: FlagLake, people: People, applied: dict[str, datetime | None]
) -> None:
    applied["shop.notes"] = MIDNIGHT
    declare(people.owner, replace(DAILY, delay_minutes=30))
    hive.names["notes"] = [DAY]
    hive.parameters[DAY] = dict(UNREADY)
    look(now=MIDNIGHT + timedelta(hours=2))
    assert "shop.notes is applied up to" in ExpectedPartition.objects.get().reason
    assert hive.flags() == {DAY: "false"}


def test_a_source_that_is_gone_holds_the_day_back(
    hive: FlagLake, people: People, applied: dict[str, datetime | None]
) -> None:
    declare(people.owner, MADE_OF)
    applied.clear()
    hive.names["notes"] = [DAY]
    hive.parameters[DAY] = dict(UNREADY)
    look(now=MIDNIGHT + timedelta(hours=2))
    assert "no pipeline fills it any more" in ExpectedPartition.objects.get().reason


def test_sources_that_cannot_be_named_say_why(
    hive: FlagLake, people: People, applied: dict[str, datetime | None]
) -> None:
    for what, code in (
        (replace(MADE_OF, delay_minutes=None), "readiness.sources"),
        (replace(MADE_OF, source_tables=("shop.sales",)), "readiness.sources"),
        (replace(MADE_OF, source_tables=("shop.shops",) * 21), "readiness.sources"),
    ):
        with pytest.raises(RuleViolation) as refused:
            declare(people.admin, what)
        assert refused.value.code == code
    with pytest.raises(NotVisible):
        declare(people.admin, replace(MADE_OF, source_tables=("shop.nope",)))
    assert not FreshnessRule.objects.exists()
