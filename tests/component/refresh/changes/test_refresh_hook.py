"""What a scheduler tells is noted once, by its full names, and never lost."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from portal.access.models import DatabaseAdministrator, User
from portal.audit.models import AuditEvent
from portal.catalog.services.table_commits import register_commit_listener
from portal.connectors.lake_config import LakeConfig
from portal.reliability.token_bucket import TokenBucket, refill
from refresh.changes.api.webhooks import MOST_BYTES
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.resolve_partitions import MOST_PARTITIONS
from refresh.core.services.rate_limit import CALLS_A_SECOND
from refresh.freshness.domain.freshness import Danger
from refresh.models import (
    ChangedPartition,
    Cluster,
    ClusterFrontEnd,
    MetastoreLoad,
    RefreshTarget,
    WatchedTable,
)
from refresh.worker.domain.steps import StepLimits
from tests.component.conftest import People
from tests.component.quality.hook_world import LEAVES, HookLake, metastore_of
from tests.component.refresh.refresh_rows import cluster, declared

pytestmark = pytest.mark.django_db
ADDRESS = "/api/refresh/"


@pytest.fixture
def hive(lake: LakeConfig, tmp_path: Path, settings: Settings) -> Iterator[HookLake]:
    with metastore_of(lake, tmp_path, Path(settings.LAKEWARDEN_LAKES)) as served:
        yield served


def tell(user: User, *partitions: str, table: str = "shop.sales", lake: str = "main") -> Any:
    client = Client()
    client.force_login(user)
    body = {"lake": lake, "table": table, "partitions": list(partitions)}
    return client.post(ADDRESS, json.dumps(body), content_type="application/json")


def changed() -> dict[str, str]:
    return dict(ChangedPartition.objects.values_list("name", "touch"))


def test_who_follows_the_table_is_told_too(hive: HookLake, people: People) -> None:
    heard: list[Any] = []
    register_commit_listener("test", lambda lake, tables, _now: heard.append((lake, *tables)))
    assert tell(people.operator).status_code == 200, "no cluster shows it"
    assert tell(people.stranger).status_code == 404
    register_commit_listener("test", lambda *_: None)
    assert heard == [("main", ("shop", "sales"))]


def test_r2_a_part_of_a_name_becomes_the_full_names(hive: HookLake, people: People) -> None:
    cluster()
    before = timezone.now()
    answer = tell(people.operator, "dt=2026-11-21", "HOUR=01/dt=2026-11-22")
    assert answer.status_code == 202
    data = answer.json()
    assert changed() == dict.fromkeys([LEAVES[0], LEAVES[1], LEAVES[3]], PartitionChange.UPDATED)
    assert (data["n_partitions"], data["n_dropped"], data["unmatched"]) == (3, 0, [])
    assert data["shown_as"] == ["bi: hive.shop.sales"]
    assert data["is_whole"] is False
    written_at = datetime.fromisoformat(data["written_at"])
    assert before <= written_at <= timezone.now()
    watched = WatchedTable.objects.get()
    assert (watched.owner, watched.is_partitioned, watched.causes) == ("olga", True, [Cause.HOOK])
    assert ChangedPartition.objects.first().at == written_at  # type: ignore[union-attr]  # there are three
    assert RefreshTarget.objects.get().is_urgent


def test_an_owner_longer_than_any_account_is_cut(hive: HookLake, people: People) -> None:
    cluster()
    hive.owner = "o" * 767  # as long as the metastore lets it be; MariaDB refuses what is too long
    assert tell(people.operator, "dt=2026-11-21").status_code == 202
    assert len(WatchedTable.objects.get().owner) == 128


def test_a_dropped_partition_is_told_by_its_full_name(hive: HookLake, people: People) -> None:
    cluster()
    said = tell(people.operator, "hour=07/dt=2026-11-22", "dt=1999", LEAVES[0]).json()
    assert changed() == {
        "dt=2026-11-22/hour=07": PartitionChange.DROPPED,
        LEAVES[0]: PartitionChange.UPDATED,
    }
    assert said["unmatched"] == ["hour=07/dt=2026-11-22", "dt=1999"]
    assert (said["n_partitions"], said["n_dropped"]) == (1, 1)


@pytest.mark.parametrize("table", ["shop.shops", "shop.sales"])
def test_no_partitions_mean_the_table(hive: HookLake, people: People, table: str) -> None:
    cluster()
    said = tell(people.operator, table=table).json()
    watched = WatchedTable.objects.get()
    assert said["is_whole"]
    assert watched.table_changed_at == datetime.fromisoformat(said["written_at"])
    assert watched.is_partitioned is (table == "shop.sales")


def test_telling_it_twice_waits_once(hive: HookLake, people: People) -> None:
    cluster()
    tell(people.operator, LEAVES[0])
    first = RefreshTarget.objects.get()
    tell(people.operator, LEAVES[0])
    again = RefreshTarget.objects.get()
    assert (again.waits_since, again.due_at) == (first.waits_since, first.due_at)
    assert ChangedPartition.objects.count() == 1


def test_a_table_that_no_cluster_shows_is_fine(hive: HookLake, people: People) -> None:
    answer = tell(people.operator)
    assert (answer.status_code, answer.json()["shown_as"]) == (200, [])
    assert "No cluster shows shop.sales" in answer.json()["message"]
    assert not WatchedTable.objects.exists()


@pytest.mark.parametrize(
    ("told", "status", "code"),
    [
        ({"lake": "moon"}, 404, "lake.unknown"),
        ({"lake": "'; --"}, 404, "lake.unknown"),
        ({"table": "shop.nope"}, 404, "refresh.table"),
        ({"table": "sales"}, 400, "name.table"),
        ({"table": "shop.sa`les"}, 400, "name.grammar"),
        ({"table": "shop.sal'es"}, 400, "name.grammar"),
        ({"table": "shop.naïve"}, 400, "name.grammar"),
        ({"table": "shop.a.b"}, 400, "name.grammar"),
        ({"table": ""}, 400, "api.400"),
        ({"partitions": "dt=1"}, 400, "api.400"),
        ({"partitions": ["dt=1\x00"]}, 400, "api.400"),
        ({"partitions": ["\ud800=1"]}, 400, "api.400"),
        ({"partitions": ["2026-11-21"]}, 400, "name.partition"),
        ({"partitions": ["day=2026-11-21"]}, 400, "partition.key"),
        ({"partitions": ["dt=1/DT=2"]}, 400, "partition.twice"),
        ({"partitions": ["dt=`'ü\"\\"]}, 404, "refresh.partition"),
        ({"table": "shop.shops", "partitions": ["dt=1"]}, 400, "partition.unpartitioned"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_noted(
    hive: HookLake, people: People, told: dict[str, Any], status: int, code: str
) -> None:
    cluster()
    client = Client()
    client.force_login(people.operator)
    body = json.dumps({"lake": "main", "table": "shop.sales"} | told)
    answer = client.post(ADDRESS, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["message"]
    assert not WatchedTable.objects.exists()


def test_who_sees_a_table_tells_of_it_and_nobody_else(hive: HookLake, people: People) -> None:
    cluster()
    DatabaseAdministrator.objects.create(lake="main", db="shop", username="dora")
    assert Client().post(ADDRESS, "{}", content_type="application/json").status_code in (401, 403)
    refused = tell(people.stranger)
    assert (refused.status_code, refused.json()["code"]) == (404, "refresh.table")
    assert not WatchedTable.objects.exists()
    for user in (people.owner, people.dba, people.operator, people.admin):
        assert tell(user).status_code == 202


def test_a_full_queue_asks_to_come_again(hive: HookLake, people: People) -> None:
    cluster()
    Cluster.objects.update(pressure="FULL")
    answer = tell(people.operator)
    assert (answer.status_code, answer["Retry-After"]) == (429, "30")
    assert "The queue of bi is full" in answer.json()["message"]
    assert not WatchedTable.objects.exists()


def test_a_metastore_that_is_away_costs_a_whole_refresh_and_loses_nothing(
    lake: LakeConfig, people: People
) -> None:
    row = cluster()
    said = tell(people.operator, "dt=2026-11-21/hour=00").json()
    assert "metastore does not answer" in said["degraded"]
    assert said["is_whole"]
    assert WatchedTable.objects.get().table_changed_at is not None
    assert changed() == {"dt=2026-11-21/hour=00": PartitionChange.UPDATED}
    # Who it belongs to was never heard, or is known not to be this person.
    assert tell(people.stranger).status_code == 502
    WatchedTable.objects.update(owner="olga")
    assert tell(people.stranger).status_code == 404
    assert tell(people.owner).status_code == 202
    # Before catalogs an updated partition is renewed by its full name only.
    ClusterFrontEnd.objects.filter(cluster=row).update(version="2.2.9")
    refused = tell(people.operator, "dt=2026-11-21")
    assert (refused.status_code, refused.json()["fields"]["retryable"]) == (502, "True")
    assert tell(people.operator).status_code == 202


def test_a_metastore_that_breaks_between_two_questions_loses_nothing(
    hive: HookLake, people: People
) -> None:
    cluster()
    hive.breaks_at_names = True
    said = tell(people.operator, "dt=2026-11-21").json()
    assert said["degraded"]
    assert WatchedTable.objects.get().table_changed_at is not None


def test_each_question_is_charged_and_a_metastore_that_rests_is_not_asked(
    hive: HookLake, people: People
) -> None:
    cluster()
    now = timezone.now()
    # In debt for a very large table's sake: a scheduler is not kept waiting for that.
    load = MetastoreLoad.objects.create(lake="main", calls=-50_000, calls_at=now)
    assert tell(people.operator, "dt=2026-11-21").status_code == 202
    load.refresh_from_db()
    refilled = refill(
        TokenBucket(-50_000, now), now=load.calls_at, per_second=CALLS_A_SECOND, most=2_000
    )
    assert load.calls == pytest.approx(refilled.tokens - 2)
    hive.breaks_at_names = True
    MetastoreLoad.objects.update(n_failed=0)
    assert tell(people.operator, "dt=2026-11-21").json()["degraded"]
    assert MetastoreLoad.objects.get().n_failed == 1
    MetastoreLoad.objects.update(open_until=timezone.now() + timedelta(minutes=1))
    hive.breaks_at_names = False
    assert hive.asked
    hive.asked.clear()
    said = tell(people.operator, "dt=2026-11-21/hour=00").json()
    assert "its circuit breaker is open" in said["degraded"]
    assert hive.asked == []
    MetastoreLoad.objects.update(open_until=timezone.now() - timedelta(seconds=1))
    assert tell(people.operator, "dt=2026-11-21").json()["degraded"] == ""
    load.refresh_from_db()
    assert (load.open_until, load.n_failed) == (None, 0), "the trial went well"


def test_who_told_what_is_recorded_once_it_was_noted(
    hive: HookLake, people: People, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(people.operator)
    assert not AuditEvent.objects.exists(), "no cluster shows it, so nothing was noted"
    cluster()
    tell(people.owner, "dt=2026-11-21", "dt=1999")
    tell(people.operator, "dt=1999")
    call_command("refresh_table", "main", "shop.sales")
    first, second = AuditEvent.objects.order_by("seq")
    assert (first.action, first.actor, first.object_id) == ("refresh.told", "olga", "shop.sales")
    assert first.data["partitions"] == ["dt=2026-11-21", "dt=1999"]
    assert (first.data["n_partitions"], first.data["is_whole"]) == (2, False)
    assert (second.actor, second.data["is_whole"]) == ("shell", True)


def test_a_hundred_thousand_partitions_are_taken_in_as_their_table(
    hive: HookLake, people: People
) -> None:
    cluster()
    names = [f"dt={n // 24}/hour={n % 24:02}" for n in range(MOST_PARTITIONS)]
    hive.names["sales"] = names
    said = tell(people.operator, *names).json()
    assert (said["n_partitions"], said["is_whole"]) == (MOST_PARTITIONS, True)
    assert WatchedTable.objects.get().table_changed_at is not None
    target = RefreshTarget.objects.get()
    assert (target.is_urgent, target.danger) == (True, Danger.WRONG)
    assert ChangedPartition.objects.count() == StepLimits().most_by_name


def test_before_catalogs_each_partition_is_named(hive: HookLake, people: People) -> None:
    row = cluster()
    ClusterFrontEnd.objects.filter(cluster=row, name="bi-fe0").update(version="2.2.9")
    hive.names["sales"] = [f"dt={n}/hour=00" for n in range(StepLimits().most_by_name + 1)]
    said = tell(people.operator, "hour=00").json()
    assert said["is_whole"] is False
    assert ChangedPartition.objects.count() == said["n_partitions"] == 1_001


def test_more_partitions_than_are_taken_in_are_refused(hive: HookLake, people: People) -> None:
    cluster()
    answer = tell(people.operator, *["dt=1"] * (MOST_PARTITIONS + 1))
    assert (answer.status_code, answer.json()["code"]) == (413, "refresh.too_many")


def test_a_body_that_is_too_big_is_refused_unread(hive: HookLake, people: People) -> None:
    client = Client()
    client.force_login(people.operator)
    answer = client.post(ADDRESS, b" " * (MOST_BYTES + 1), content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "refresh.body")
    assert "in several calls" in answer.json()["message"]


def test_the_command_tells_the_same(hive: HookLake, capsys: pytest.CaptureFixture[str]) -> None:
    declared(cluster(), "sales_in_sr")
    call_command("refresh_table", "main", "shop.sales", "--partition", "dt=2026-11-22")
    assert changed() == dict.fromkeys(LEAVES[2:], PartitionChange.UPDATED)
    assert capsys.readouterr().out == "bi: ext.sales_in_sr\nbi: hive.shop.sales\n"
    with pytest.raises(CommandError, match=r"refresh\.table: .* no table shop\.nope"):
        call_command("refresh_table", "main", "shop.nope")
