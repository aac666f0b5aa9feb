"""The pages and the API of comparisons: what staff see and do, what admins alone see."""

from datetime import datetime

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.services.pipelines import pipeline_create
from pipelines.models import CapturedTable, TableRepair
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.pipelines.cdc.control.test_pipeline_pages import api, page, signed_in
from tests.component.pipelines.cdc.control.test_pipelines import ADA
from tests.component.pipelines.cdc.reconciling.compared import (
    DIFFERENT,
    WITH_EXTRA,
    captured_table,
    compare,
)
from tests.unit.pipelines.cdc.control.test_spec import GOOD

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(lake: LakeConfig, now: datetime) -> CapturedTable:
    return captured_table(pipeline_create(spec_of(GOOD), by=ADA, now=now), now)


@pytest.fixture
def otto(people: People) -> Client:
    return signed_in(people.operator)


@pytest.fixture
def ada(people: People) -> Client:
    return signed_in(people.admin)


def test_a_table_shows_its_last_result_and_its_history(
    otto: Client, ada: Client, table: CapturedTable, now: datetime
) -> None:
    args = ("shop", table.pk)
    assert "Nothing was compared yet" in page(otto, "table-comparisons", *args)
    assert "Nothing was compared yet" in page(otto, "comparisons", "shop")
    compare(table, now, **WITH_EXTRA)
    last = compare(table, timezone.now(), state="skipped", note="It is paused.")
    text = page(otto, "table-comparisons", *args)
    for shown in ("0:bin.000001:900", "1 extra in the lake", "It is paused.", "Not compared"):
        assert shown in text
    assert "shop.orders" in page(otto, "comparisons", "shop", query="?state=skipped")
    assert "No comparison fits" in page(otto, "comparisons", "shop", query="?state=equal")
    csv = page(otto, "table-comparisons", *args, query="?format=csv").splitlines()
    assert len(csv) == 3
    assert page(otto, "comparisons", "shop", query="?format=csv").splitlines()[1:]
    assert last.badge == "CDC_COMPARED_SKIPPED"


def test_keys_are_for_admins(
    otto: Client, ada: Client, table: CapturedTable, now: datetime
) -> None:
    found = compare(table, now, **WITH_EXTRA)
    args = ("shop", table.pk, found.pk)
    assert '""id"": ""7""' in page(ada, "comparison-keys", *args)
    assert otto.get(reverse("pipelines:comparison-keys", args=args)).status_code == 403
    keys = reverse("pipelines-api:comparison-keys", args=args)
    assert [one["key"] for one in ada.get(keys).json()["results"]] == [{"id": "7"}, {"id": "8"}]
    assert otto.get(keys).status_code == 403
    other = reverse("pipelines:comparison-keys", args=("shop", table.pk, found.pk + 9))
    assert ada.get(other).status_code == 404
    shown = page(otto, "table-comparisons", "shop", table.pk)
    assert "An admin repairs these rows" in shown
    assert "Keys as CSV" not in shown
    assert "Keys as CSV" in page(ada, "table-comparisons", "shop", table.pk)


def test_staff_compare_set_the_hour_and_repair(
    otto: Client, table: CapturedTable, now: datetime
) -> None:
    answer = otto.post(reverse("pipelines:table-compare", args=["shop", table.pk]))
    assert answer.status_code == 302
    assert "A comparison is running" in page(otto, "comparisons", "shop")
    assert otto.post(reverse("pipelines:compare", args=["shop"])).status_code == 409
    Run.objects.update(finished_at=now)
    assert otto.post(reverse("pipelines:compare", args=["shop"])).status_code == 302
    address = reverse("pipelines:comparison-schedule", args=["shop"])
    assert otto.post(address, {"hour": "", "rows_per_second": "900"}).status_code == 302
    assert 'value="900"' in page(otto, "comparisons", "shop")
    assert otto.post(address, {"hour": "x", "rows_per_second": "900"}).status_code == 400
    found = compare(table, timezone.now(), **DIFFERENT)
    repair = reverse("pipelines:comparison-repair", args=["shop", table.pk, found.pk])
    assert otto.post(repair, {"reason": "a disk was lost"}).status_code == 302
    assert "the capture has not written it yet" in page(otto, "table-comparisons", "shop", table.pk)
    TableRepair.objects.update(done_at=now, batch=5, n_rows=1)
    assert "1 row written and 0 deleted" in page(otto, "table-comparisons", "shop", table.pk)


def test_the_api_does_what_the_pages_do(otto: Client, table: CapturedTable, now: datetime) -> None:
    args = ("shop", table.pk)
    schedule = reverse("pipelines-api:comparison-schedule", args=["shop"])
    assert otto.get(schedule).json() == {"hour": 2, "rows_per_second": 20_000}
    said = api(otto, "comparison-schedule", "shop", hour=None, rows_per_second=500)
    assert said.json() == {"hour": None, "rows_per_second": 500}
    assert api(otto, "table-compare", *args).status_code == 202
    assert api(otto, "compare", "shop").json()["code"] == "comparison.running"
    found = compare(table, now, **DIFFERENT)
    for name, where in (("comparisons", ("shop",)), ("table-comparisons", args)):
        (row,) = otto.get(reverse(f"pipelines-api:{name}", args=where)).json()["results"]
        assert (row["table"], row["state"], row["n_missing"]) == ("shop.orders", "different", 1)
    made = api(otto, "comparison-repair", *args, found.pk, reason="a disk was lost")
    assert (made.status_code, made.json()["n_keys"]) == (202, 1)


def test_home_and_metrics_tell_of_tables_that_differ(
    otto: Client, table: CapturedTable, now: datetime
) -> None:
    assert "Captured tables that differ" not in otto.get("/").content.decode()
    compare(table, now, **DIFFERENT)
    assert "Captured tables that differ" in otto.get("/").content.decode()
    told = 'lakewarden_cdc_differing_rows{pipeline="shop"} 1'
    assert told in otto.get("/metrics").content.decode()
    compare(table, now.replace(hour=10))
    assert "Captured tables that differ" not in otto.get("/").content.decode()


@pytest.mark.parametrize("who", ["owner", "stranger"])
def test_for_others_there_are_no_comparisons(
    people: People, table: CapturedTable, now: datetime, who: str
) -> None:
    client = signed_in(getattr(people, who))
    found = compare(table, now, **DIFFERENT)
    for name, args in (
        ("comparisons", ("shop",)),
        ("table-comparisons", ("shop", table.pk)),
        ("comparison-keys", ("shop", table.pk, found.pk)),
    ):
        for space in ("pipelines", "pipelines-api"):
            assert client.get(reverse(f"{space}:{name}", args=args)).status_code == 404
