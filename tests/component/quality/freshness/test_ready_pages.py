"""The pages and the API of what is expected: filters, CSV, picture, forms, and who sees what."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from quality.freshness.selectors.numbers import late
from quality.models import ExpectedPartition, FreshnessRule, FreshnessStatus
from tests.component.conftest import People
from tests.component.quality.flag_lake import FlagLake
from tests.support.thrift_lake import served

pytestmark = pytest.mark.django_db
DECLARED = {"time_key": "DT", "time_format": "yyyy-MM-dd", "sla_minutes": "240"}


@pytest.fixture
def hive(lake: LakeConfig, tmp_path: Path, settings: Settings) -> Iterator[FlagLake]:
    served_lake = FlagLake(tmp_path)
    with served(served_lake) as port:
        there = replace(lake, thrift_port=port)
        Path(settings.LAKEWARDEN_LAKES).write_text(json.dumps({"main": there.as_dict()}))
        yield served_lake


def rows(db: str = "shop", table: str = "notes", owner: str = "olga") -> FreshnessRule:
    """A table with a day that came in time, one that came late, and one that is late."""
    now = timezone.now()
    rule = FreshnessRule.objects.create(
        lake="main", db=db, table=table, owner=owner, time_key="dt", time_format="yyyy-MM-dd",
        sla_minutes=240, set_by="ada", set_at=now, noted_until=now, look_at=now,
    )  # fmt: skip
    for days, hours in ((4, 1), (3, 9), (2, None)):
        end = now - timedelta(days=days - 1)
        ExpectedPartition.objects.create(
            rule=rule,
            lake="main",
            spec=f"dt=2026-11-0{days}",
            start=end - timedelta(days=1),
            end=end,
            due_at=end + timedelta(hours=4),
            standing=FreshnessStatus.MISSING if hours is None else FreshnessStatus.READY,
            came_late=hours == 9,
            ready_at=None if hours is None else end + timedelta(hours=hours),
            reason="The metastore has no partition of it yet." if hours is None else "It came.",
        )
    return rule


def test_a_monitoring_server_reads_how_many_are_late() -> None:
    assert list(late()) == []
    rule = rows()
    assert list(late()) == [({"lake": "main"}, 1)]
    rule.expected.update(standing=FreshnessStatus.READY)
    assert list(late()) == [({"lake": "main"}, 0)]


def as_(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text(user: User, address: str) -> str:
    answer = as_(user).get(address)
    assert answer.status_code == 200, address
    return bytes(answer.getvalue()).decode()


def test_the_list_says_what_is_late_by_how_much_and_since_when(
    lake: LakeConfig, people: People
) -> None:
    empty = text(people.operator, "/readiness/")
    assert "No expected partitions yet" in empty
    rows()
    page = text(people.operator, "/readiness/")
    assert "1 partition is late now" in page
    for word in ("dt=2026-11-02", "dt=2026-11-03", "dt=2026-11-04", "Came late", "Not there"):
        assert word in page
    late = text(people.operator, "/readiness/?late=now")
    assert "dt=2026-11-02" in late
    assert "dt=2026-11-03" not in late
    assert "dt=2026-11-03" in text(people.operator, "/readiness/?late=was")
    first = ExpectedPartition.objects.get(spec="dt=2026-11-04")
    day = timezone.localtime(first.start, ZoneInfo("Europe/Berlin")).date().isoformat()
    one_day = text(people.operator, f"/readiness/?since={day}&until={day}")
    assert "dt=2026-11-04" in one_day
    assert "dt=2026-11-03" not in one_day
    assert "dt=2026-11-04" in text(people.operator, "/readiness/?since=0001-01-01&until=9999-12-31")
    assert "No partition fits" in text(people.operator, "/readiness/?table=nothing")
    lines = text(people.operator, "/readiness/?format=csv&late=any").splitlines()
    assert len(lines) == 3
    assert "late_seconds" in lines[0]
    assert "Partitions that are late" in text(people.owner, "/"), "the home card"
    assert "dt=2026-11" not in text(people.stranger, "/readiness/")


def test_a_tables_page_draws_its_ready_times_beside_its_time(
    lake: LakeConfig, people: People
) -> None:
    rule = rows()
    page = text(people.owner, f"/readiness/rules/{rule.pk}/")
    assert "Minutes from a period" in page
    assert "had to be ready" in page
    assert "<td" in page
    assert as_(people.stranger).get(f"/readiness/rules/{rule.pk}/").status_code == 404


def test_an_owner_declares_changes_and_ends_on_the_pages(hive: FlagLake, people: People) -> None:
    owner = as_(people.owner)
    new = "/readiness/rules/new/"
    wrong = owner.post(new, {"table": "shop.shops", **DECLARED})
    assert wrong.status_code == 400
    assert "not partitioned" in wrong.content.decode()
    assert (
        owner.post(new, {"table": "shop.notes"} | DECLARED | {"sla_minutes": ""}).status_code == 400
    )
    made = owner.post(new, {"table": "shop.notes", **DECLARED})
    rule = FreshnessRule.objects.get()
    one = made.headers["Location"]
    assert (made.status_code, one) == (302, f"/readiness/rules/{rule.pk}/")
    assert (rule.time_key, rule.sla_minutes, rule.delay_minutes) == ("dt", 240, None)
    page = text(people.owner, one)
    assert "Latest after its end</dt><dd>4 h" in page
    changed = {**DECLARED, "delay_minutes": "30", "min_rows": "5", "version": "0"}
    assert owner.post(one, changed).status_code == 302
    assert "a rule too: 30 min after its end, 5 rows" in text(people.owner, "/readiness/rules/")
    stale = owner.post(one, {**DECLARED, "version": "0"})
    assert stale.status_code == 409
    assert as_(people.stranger).post(f"{one}end/").status_code == 404
    assert owner.post(f"{one}end/").status_code == 409
    assert owner.post(f"{one}end/", {"version": "1"}).status_code == 302
    assert not FreshnessRule.objects.exists()


def test_programs_do_all_of_it_over_the_api(hive: FlagLake, people: People) -> None:
    client = as_(people.owner)

    def post(address: str, **body: Any) -> Any:
        return client.post(address, json.dumps(body), content_type="application/json")

    rules = "/api/v1/readiness/rules/"
    wish = {**DECLARED, "sla_minutes": 240, "table": "shop.notes"}
    made = post(rules, **wish)
    assert made.status_code == 201
    one = f"{rules}{made.json()['id']}/"
    assert client.get(one).json()["sla_minutes"] == 240
    assert post(rules, **{**wish, "table": "shop.nope"}).json()["code"] == "readiness.table"
    assert post(one, **{**wish, "min_files": 3}).json()["code"] == "readiness.changed"
    assert post(one, **{**wish, "min_files": 3, "version": 0}).json()["min_files"] == 3
    assert [row["table"] for row in client.get(rules).json()["results"]] == ["shop.notes"]
    rows(table="others")
    expected = client.get("/api/v1/readiness/awaited/?late=now").json()["results"]
    assert [(row["table"], row["spec"]) for row in expected] == [("shop.others", "dt=2026-11-02")]
    assert expected[0]["late_seconds"] > 3600
    assert as_(people.stranger).get("/api/v1/readiness/awaited/").json()["results"] == []
    assert as_(people.stranger).get(one).status_code == 404
    assert post(f"{one}end/", version=1).status_code == 204
    assert client.get(one).status_code == 404


def test_the_page_of_readers_names_who_cannot_hide(lake: LakeConfig, people: People) -> None:
    page = text(people.stranger, "/readiness/readers/")
    for word in ("Trino", "StarRocks", "Presto", "Impala", "by their path", "includeUnCommit=true"):
        assert word in page
    assert "lakewarden.ready.ReadyPartitions" in page
