"""N14: a job is told that its write is visible only when every live front end has proven it."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from refresh.changes.domain.changes import Cause
from refresh.changes.services.record_changes import Change, note_change
from refresh.freshness.domain.coverage import CompletedRefresh, Wish, write_done
from refresh.freshness.selectors.waiting import Asked, look
from refresh.freshness.services.waiting import LONGEST_BLOCK, Clock, WaitParams, wait_until_visible
from refresh.models import Cluster, ClusterFrontEnd, RefreshTarget, TargetFrontEnd, WatchedTable
from tests.component.conftest import People
from tests.component.quality.hook_world import LEAVES, HookLake, metastore_of
from tests.component.refresh.refresh_rows import NOW, SALES, at, cluster

pytestmark = pytest.mark.django_db
ADDRESS = "/api/refresh/wait"


@pytest.fixture
def hive(lake: LakeConfig, tmp_path: Path, settings: Settings) -> Iterator[HookLake]:
    with metastore_of(lake, tmp_path, Path(settings.LAKEWARDEN_LAKES)) as served:
        yield served


@pytest.fixture
def told(lake: LakeConfig) -> None:
    """Tell of the table at NOW; its cluster's front ends were listed after it."""
    cluster()
    tell_at_now()


def tell_at_now() -> None:
    note_change(Change(SALES, Cause.HOOK, whole=True), now=NOW)
    Cluster.objects.update(read_at=at(1))


def did(name: str, *, began: float, partitions: tuple[str, ...] = ()) -> None:
    fe = ClusterFrontEnd.objects.get(name=name)
    target = RefreshTarget.objects.get(cluster=fe.cluster)
    done = [CompletedRefresh(at(began), at(began + 1), frozenset(partitions))]
    TargetFrontEnd.objects.update_or_create(
        target=target, fe=fe, defaults={"done": write_done(done)}
    )


def ask(user: User, **said: Any) -> Any:
    client = Client()
    client.force_login(user)
    wish = {"lake": "main", "table": "shop.sales", "written_at": stamp(NOW), "timeout": "0"}
    return client.get(ADDRESS, wish | said)


def stamp(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def judged(answer: Any) -> tuple[bool, bool, bool]:
    data = answer.json()
    assert answer.status_code == 200, data
    return data["is_visible"], data["is_over"], data["may_go_on"]


@pytest.mark.usefixtures("told")
def test_n14_every_live_front_end_must_have_begun_after_the_write(people: People) -> None:
    did("bi-fe0", began=2)
    did("bi-fe1", began=-1)
    answer = ask(people.operator)
    assert judged(answer) == (False, True, False)
    (shown,) = answer.json()["clusters"]
    assert (shown["cluster"], shown["table"]) == ("bi", "hive.shop.sales")
    assert shown["problem"] == "Not proven on 127.0.0.3:9030."
    assert [one["visibility"] for one in shown["front_ends"]] == ["VISIBLE", "NOT_YET"]
    did("bi-fe1", began=2)
    assert judged(ask(people.operator)) == (True, True, True)


@pytest.mark.usefixtures("told")
def test_n14_the_dead_are_named_and_left_out_and_the_frozen_are_not_fresh(people: People) -> None:
    did("bi-fe0", began=2)
    other = ClusterFrontEnd.objects.filter(name="bi-fe1")
    other.update(is_alive=False, error="Connection refused")
    answer = ask(people.operator)
    assert judged(answer) == (True, True, True)
    assert answer.json()["clusters"][0]["front_ends"][1]["visibility"] == "EXCLUDED"
    other.update(error="Read timed out")
    assert judged(ask(people.operator)) == (False, True, False)
    assert judged(ask(people.operator, strict="false")) == (False, True, True)


@pytest.mark.usefixtures("told")
def test_n14_every_cluster_that_shows_the_table_counts(people: People) -> None:
    did("bi-fe0", began=2)
    did("bi-fe1", began=2)
    cluster("dwh", n_fes=1)
    answer = ask(people.operator)
    assert judged(answer) == (False, True, False)
    assert "not told" in answer.json()["clusters"][1]["problem"]
    tell_at_now()
    assert judged(ask(people.operator)) == (False, True, False)
    did("dwh-fe0", began=2)
    assert judged(ask(people.operator)) == (True, True, True)


@pytest.mark.usefixtures("told")
def test_n14_a_list_of_front_ends_from_before_the_write_proves_nothing(people: People) -> None:
    did("bi-fe0", began=2)
    did("bi-fe1", began=2)
    Cluster.objects.update(read_at=NOW, problem="it refuses the password")
    answer = ask(people.operator)
    assert judged(answer) == (False, True, False)
    assert "not listed since the write (it refuses" in answer.json()["clusters"][0]["problem"]


@pytest.mark.usefixtures("told")
def test_n14_what_can_never_be_proven_is_over_at_once(people: People) -> None:
    WatchedTable.objects.update(is_opted_out=True, opted_out_by="olga")
    answer = ask(people.operator, timeout="60")
    assert judged(answer) == (False, True, False)
    assert "olga opted it out" in answer.json()["reason"]
    WatchedTable.objects.update(is_opted_out=False, is_partitioned=True)
    ClusterFrontEnd.objects.update(version="2.2.9")
    answer = ask(people.operator, timeout="60", strict="false")
    assert judged(answer) == (False, True, True)
    assert answer.json()["clusters"][0]["front_ends"][0]["visibility"] == "UNPROVABLE"


@pytest.mark.usefixtures("told")
def test_n14_a_paused_cluster_says_so(people: People) -> None:
    Cluster.objects.update(is_paused=True, paused_by="otto", paused_reason="an upgrade")
    problem = ask(people.operator).json()["clusters"][0]["problem"]
    assert problem == "otto paused this cluster: an upgrade"


def test_n14_parts_of_names_are_waited_for_by_their_full_names(
    hive: HookLake, people: People
) -> None:
    cluster()
    tell_at_now()
    for name in ("bi-fe0", "bi-fe1"):
        did(name, began=2, partitions=LEAVES[:2])
    assert judged(ask(people.operator, partitions="dt=2026-11-21")) == (True, True, True)
    wanted = ["dt=2026-11-21", "dt=2026-11-22"]
    assert judged(ask(people.operator, partitions=wanted)) == (False, True, False)
    # A dropped one is seen when the list of partitions was renewed.
    dropped = "dt=2026-11-21/hour=09"
    assert judged(ask(people.operator, partitions=dropped)) == (False, True, False)
    for name in ("bi-fe0", "bi-fe1"):
        did(name, began=2)
    assert judged(ask(people.operator, partitions=dropped)) == (True, True, True)
    assert ask(people.operator, partitions="dt=1999").status_code == 404


def test_n14_long_lists_are_asked_for_in_a_body(hive: HookLake, people: People) -> None:
    cluster()
    tell_at_now()
    client = Client()
    client.force_login(people.operator)
    wish = {"table": "shop.sales", "written_at": stamp(NOW), "partitions": list(LEAVES)}
    answer = client.post(ADDRESS, json.dumps(wish), content_type="application/json")
    assert judged(answer) == (False, True, False)


@pytest.mark.usefixtures("told")
def test_n14_one_request_is_kept_until_it_is_visible_or_its_time_is_over(people: People) -> None:
    passed = [timedelta()]
    began = at(5)

    def pause(seconds: float) -> None:
        passed[0] += timedelta(seconds=seconds)
        if passed[0] >= visible_after:
            did("bi-fe0", began=6)
            did("bi-fe1", began=6)

    def waited(seconds: float) -> tuple[bool, int]:
        passed[0] = timedelta()
        TargetFrontEnd.objects.all().delete()
        wish = WaitParams("main", "shop.sales", (), NOW, timedelta(seconds=seconds))
        clock = Clock(lambda: began + passed[0], pause)
        found = wait_until_visible(wish, user=people.operator, clock=clock)
        return found.seen.is_visible, found.ask_again_seconds

    visible_after = timedelta(seconds=3)
    assert waited(60) == (True, 0)
    assert passed[0] == visible_after
    visible_after = LONGEST_BLOCK * 2
    assert waited(60) == (False, 1)
    assert passed[0] == LONGEST_BLOCK
    assert waited(7.2) == (False, 0)
    assert passed[0] == timedelta(seconds=7.2)


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"written_at": ""}, "api.400"),
        ({"written_at": "yesterday"}, "api.400"),
        ({"written_at": "2026-11-22T12:00:00"}, "api.400"),
        ({"written_at": "0001-01-01T00:00:00+23:59"}, "api.400"),
        ({"timeout": "-1"}, "api.400"),
        ({"timeout": "nan"}, "api.400"),
        ({"timeout": "inf"}, "api.400"),
        ({"strict": "perhaps"}, "api.400"),
        ({"table": "sa`les"}, "name.table"),
        ({"lake": "moon"}, "lake.unknown"),
    ],
)
def test_n14_a_wish_that_cannot_be_read_is_refused(
    people: People, said: dict[str, str], code: str
) -> None:
    answer = ask(people.operator, **said)
    assert answer.json()["code"] == code, answer.content
    assert answer.status_code in (400, 404)


@pytest.mark.usefixtures("told")
def test_n14_an_instant_that_lies_ahead_is_refused(people: People) -> None:
    ahead = stamp(timezone.now() + timedelta(minutes=1))
    answer = ask(people.operator, written_at=ahead)
    assert (answer.status_code, answer.json()["code"]) == (400, "refresh.written_at")


@pytest.mark.usefixtures("told")
def test_n14_only_who_sees_a_table_waits_for_it(people: People) -> None:
    assert ask(people.stranger).json()["code"] == "refresh.not_told"
    assert ask(people.owner).status_code == 404
    WatchedTable.objects.update(owner="olga")
    assert ask(people.owner).status_code == 200
    assert Client().get(ADDRESS).status_code in (401, 403)


@pytest.mark.usefixtures("told")
def test_n14_a_cluster_that_is_removed_amid_a_look_counts_no_more() -> None:
    cluster("boards", catalog="lake")
    tell_at_now()
    for name in ("boards-fe0", "boards-fe1"):
        did(name, began=2)
    asked = Asked(SALES, Wish(NOW, is_partitioned=False), at(60), is_strict=True)

    with connection.execute_wrapper(Removing("bi")):
        seen = look(asked, now=at(3))
    assert seen.is_visible
    assert [one.cluster for one in seen.clusters] == ["boards"]

    with connection.execute_wrapper(Removing("boards")):
        seen = look(asked, now=at(3))
    assert (seen.is_visible, seen.is_over, seen.may_go_on, seen.clusters) == (False, True, True, ())


class Removing:
    """Somebody removes a cluster just before the first statement that reads watched tables."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, execute: Any, sql: str, *rest: Any) -> Any:
        if self.name and "refresh_watchedtable" in sql:
            row, self.name = Cluster.objects.filter(name=self.name), ""
            row.delete()
        return execute(sql, *rest)


@pytest.mark.usefixtures("lake")
def test_n14_a_table_that_nobody_shows_holds_nobody_up(people: People) -> None:
    answer = ask(people.operator)
    assert judged(answer) == (False, True, True)
    assert "No cluster shows" in answer.json()["reason"]
