"""Who says that partitions are ready sets one parameter of exactly those, once."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django.fixtures import Settings

from portal.access.models import DatabaseAdministrator, User
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from quality.ready_flag.services.marking import MOST_PARTITIONS
from tests.component.conftest import People
from tests.component.quality.flag_lake import ODD, FlagLake
from tests.component.quality.hook_world import LEAVES
from tests.support.thrift_lake import served

pytestmark = pytest.mark.django_db
ADDRESS = "/api/readiness/"


@pytest.fixture
def hive(lake: LakeConfig, tmp_path: Path, settings: Settings) -> Iterator[FlagLake]:
    served_lake = FlagLake(tmp_path)
    with served(served_lake) as port:
        there = replace(lake, thrift_port=port)
        Path(settings.LAKEWARDEN_LAKES).write_text(json.dumps({"main": there.as_dict()}))
        yield served_lake


def say(user: User, *partitions: str, ready: object = True, **more: Any) -> Any:
    client = Client()
    client.force_login(user)
    body = {"table": "shop.sales", "partitions": list(partitions), "ready": ready, **more}
    return client.post(ADDRESS, json.dumps(body), content_type="application/json")


def test_a_part_of_a_name_means_its_leaves_and_saying_it_twice_changes_nothing(
    hive: FlagLake, people: People
) -> None:
    said = say(people.owner, "dt=2026-11-21", ready=False).json()
    assert (said["n_partitions"], said["n_changed"]) == (2, 2)
    assert hive.flags() == {LEAVES[0]: "false", LEAVES[1]: "false"}
    assert say(people.owner, "dt=2026-11-21", ready=False).json()["n_changed"] == 0
    assert say(people.owner, "hour=00", "dt=2026-11-22").json()["n_changed"] == 1
    assert hive.flags() == {LEAVES[0]: "true", LEAVES[1]: "false"}, "an absent flag is ready"
    assert len(hive.calls) == 2, "the metastore was told of changes only"
    first, second = AuditEvent.objects.order_by("seq")
    assert (first.action, first.actor) == ("partitions.marked", "olga")
    assert (first.object_id, first.data["ready"]) == ("shop.sales", False)
    assert first.data["partitions"] == ["dt=2026-11-21"]
    assert (second.data["ready"], second.data["n_partitions"]) == (True, 3)


def test_quotes_and_letters_of_all_kinds_are_names_like_others(
    hive: FlagLake, people: People
) -> None:
    assert say(people.operator, 'hour=`/dt=ü%27 "%25', ready=False).status_code == 200
    assert hive.flags() == {ODD: "false"}


def test_a_flag_that_people_wrote_by_hand_is_understood(hive: FlagLake, people: People) -> None:
    hive.parameters[LEAVES[0]] = {"note": "stays", "commit": " FALSE "}
    assert say(people.operator, LEAVES[0], ready=False).json()["n_changed"] == 0
    assert say(people.operator, LEAVES[0], ready=True).json()["n_changed"] == 1
    assert hive.flags() == {LEAVES[0]: "true"}


@pytest.mark.parametrize(
    ("told", "status", "code"),
    [
        ({"lake": "moon"}, 404, "lake.unknown"),
        ({"table": "shop.nope"}, 404, "readiness.table"),
        ({"table": "nope.sales"}, 404, "readiness.table"),
        ({"table": "shop.sal'es"}, 400, "name.grammar"),
        ({"table": "shop.naïve"}, 400, "name.grammar"),
        ({"table": "shop.shops"}, 400, "partition.unpartitioned"),
        ({"partitions": []}, 400, "readiness.nothing"),
        ({"partitions": ["dt=1\x00"]}, 400, "api.400"),
        ({"partitions": ["\ud800=1"]}, 400, "api.400"),
        ({"partitions": ["day=1"]}, 400, "partition.key"),
        ({"partitions": ["2026-11-21"]}, 400, "name.partition"),
        ({"partitions": [LEAVES[0], "dt=`'ü\"\\"]}, 404, "readiness.partition"),
        ({"partitions": ["dt=1"] * (MOST_PARTITIONS + 1)}, 413, "readiness.too_many"),
        ({"ready": "perhaps"}, 400, "api.400"),
        ({"ready": None}, 400, "api.400"),
    ],
)
def test_what_is_wrong_is_named_and_no_flag_is_set(
    hive: FlagLake, people: People, told: dict[str, Any], status: int, code: str
) -> None:
    body: dict[str, Any] = {"partitions": [LEAVES[0]], "ready": False} | told
    answer = say(people.operator, *body.pop("partitions"), ready=body.pop("ready"), **body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["message"]
    assert not hive.parameters
    assert not AuditEvent.objects.exists()


def test_who_sees_a_table_says_so_and_nobody_else(hive: FlagLake, people: People) -> None:
    DatabaseAdministrator.objects.create(lake="main", db="shop", username="dora")
    nobody = Client().post(ADDRESS, "{}", content_type="application/json")
    assert nobody.status_code in (401, 403)
    refused = say(people.stranger, LEAVES[0], ready=False)
    assert (refused.status_code, refused.json()["code"]) == (404, "readiness.table")
    assert not hive.parameters
    for user in (people.owner, people.dba, people.operator, people.admin):
        assert say(user, LEAVES[0], ready=False).status_code == 200


def test_more_than_is_set_at_once_is_refused_however_few_names_say_it(
    hive: FlagLake, people: People
) -> None:
    hive.names["sales"] = [f"dt=1/hour={n}" for n in range(MOST_PARTITIONS + 1)]
    answer = say(people.operator, "dt=1", ready=False)
    assert (answer.status_code, answer.json()["code"]) == (413, "readiness.too_many")
    assert not hive.parameters


def test_a_metastore_that_breaks_half_way_leaves_what_was_set_and_says_so(
    hive: FlagLake, people: People
) -> None:
    hive.names["sales"] = [f"dt=1/hour={n:03}" for n in range(150)]
    hive.n_calls_that_work = 1
    answer = say(people.operator, "dt=1", ready=False)
    assert (answer.status_code, answer.json()["code"]) == (502, "metastore.refused")
    record = AuditEvent.objects.get().data
    assert (record["n_partitions"], record["n_changed"]) == (150, 100)
    assert "it is broken" in record["problem"]
    hive.n_calls_that_work = 2
    assert say(people.operator, "dt=1", ready=False).json()["n_changed"] == 50


def test_a_metastore_that_is_away_is_an_answer(lake: LakeConfig, people: People) -> None:
    answer = say(people.operator, LEAVES[0])
    assert (answer.status_code, answer.json()["code"]) == (502, "metastore.unreachable")
    assert not AuditEvent.objects.exists()


def test_at_the_shell_it_is_said_in_one_line(
    hive: FlagLake, db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command(
        "partition_ready", "main", "shop.sales", "--partition", "dt=2026-11-21", "--not-ready"
    )
    assert hive.flags() == {LEAVES[0]: "false", LEAVES[1]: "false"}
    call_command("partition_ready", "main", "shop.sales", "--partition", LEAVES[0])
    assert hive.flags() == {LEAVES[0]: "true", LEAVES[1]: "false"}
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "1 partitions are ready, 1 of them since now."
    assert AuditEvent.objects.order_by("-seq")[0].actor == "shell"
    with pytest.raises(CommandError, match=r"readiness\.partition: shop\.sales has no partition"):
        call_command("partition_ready", "main", "shop.sales", "--partition", "dt=1999")


def test_a_flag_that_another_writer_took_back_at_once_is_not_called_set(
    hive: FlagLake, people: People
) -> None:
    hive.is_overtaken = True
    answer = say(people.operator, LEAVES[0], ready=False)
    assert (answer.status_code, answer.json()["code"]) == (409, "readiness.overtaken")
    record = AuditEvent.objects.get().data
    assert "2026-11-21/00" in record["problem"]
    hive.is_overtaken = False
    assert say(people.operator, LEAVES[0], ready=False).json()["n_changed"] == 1
