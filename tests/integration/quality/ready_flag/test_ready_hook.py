"""Readers with the hook see partitions once they are ready, in whatever client."""

import json
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from portal.connectors.metastore import Metastore
from portal.lake.names import TableName
from portal.lake.readiness import FLAG, SHOWS_ALL, is_ready
from portal.spark.launch import submit_argv
from quality.ready_flag.services.marking import Mark, partitions_mark
from stack.places import JARS, jars_of, spark_home
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_lake import ActLake
from tests.support.sql import SqlShell

pytestmark = pytest.mark.rows("B3")
HOOK = JARS / "jvm" / "ready-partitions.jar"
HOOKED = "hive.metastore.filter.hook=lakewarden.ready.ReadyPartitions"
SOURCE = Path(__file__).parents[3] / "support" / "ReadyReader.java"
SPARKS = f"{spark_home()}/jars/*"
# Programs of Hive 3 carry hive-common beside the metastore's own jar.
HIVE_3 = ":".join(
    [
        f"{JARS}/metastore/hms/lib/*",
        *map(str, jars_of("metastore")),
        str(spark_home() / "jars" / "hive-common-2.3.9.jar"),
        SPARKS.replace("*", "hadoop-client-api-3.3.4.jar"),
        SPARKS.replace("*", "hadoop-client-runtime-3.3.4.jar"),
    ]
)
ODD = "it's ü%/="
FLAGS = (
    "false",
    "FALSE",
    " False\t",
    "true",
    "",
    "0",
    "no",
    "fa lse",
    "f\u0430lse",
    "\ufb01",
    "FAL\u017fE",
)
SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]


Listings = dict[str, list[str]]


def java(class_path: str, *arguments: str, told: str) -> dict[str, Listings]:
    """Run the reader with one release's jars; returns what it said, by its settings."""
    argv = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{HOOK}:{class_path}", str(SOURCE)]
    done = subprocess.run(
        [*argv, *arguments], check=False, capture_output=True, text=True, input=told
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said: dict[str, Listings] = {"": {}}
    found = said[""]
    for line in done.stdout.splitlines():
        mark, name, *words = line.split("|")
        if mark == "LW" and "=" in name:
            found = said.setdefault(name, {})
        elif mark == "LW":
            found[name] = [bytes.fromhex(word).decode() for word in words]
    return said


@pytest.fixture
def lake(embedded_stack: Stack) -> Iterator[ActLake]:
    yield from make_lake(embedded_stack)


@pytest.mark.parametrize("class_path", [SPARKS, HIVE_3], ids=["Hive 2.3 of Spark", "Hive 3.1"])
def test_a_client_of_the_metastore_sees_what_is_ready(lake: ActLake, class_path: str) -> None:
    values = [("a", "1"), ("a", "2"), ("b", "1"), (ODD, "1"), (ODD, "2")]
    name = lake.make_table("hooked", keys=("dt", "h"), values=values)
    for struct in lake.metastore.partitions_by_names(name, lake.metastore.partition_names(name)):
        if struct.values[-1] == "2":
            struct.parameters = {**struct.parameters, FLAG: "False "}
            lake.metastore.alter_partitions(name, [struct])
    shown = f"{HOOKED},{SHOWS_ALL}=true"
    flags = [*FLAGS, *(f"{space}false{space}" for space in SPACES), "\u200bfalse", "x false"]
    told = "".join(flag.encode().hex() + "\n" for flag in flags)
    listing = (lake.config.metastore_uri, name.db, name.table, HOOKED, shown, "none=none")
    said = java(class_path, *listing, told=told)
    judged = [word == "true" for word in said[""]["judged"]]
    assert judged == [is_ready({FLAG: flag}) for flag in flags], "it means what the portal means"
    hidden = said[HOOKED]
    assert hidden["names"] == sorted(["dt=a/h=1", "dt=b/h=1", f"dt={_spelled(ODD)}/h=1"])
    assert hidden["some names"] == ["dt=a/h=1"]
    assert sorted(hidden["partitions"]) == ["[a, 1]", "[b, 1]", f"[{ODD}, 1]"]
    assert hidden["filter"] == ["[a, 1]"]
    assert sorted(hidden["specs"]) == ["[a, 1]", "[b, 1]", f"[{ODD}, 1]"]
    assert hidden["one"][0].startswith("The partition [a, 2] of ")
    assert hidden["one"][0].endswith(
        "is not ready yet (commit=false); includeUnCommit=true shows it."
    )
    for everything in (said[shown], said["none=none"]):
        assert [len(rows) for rows in everything.values()] == [5, 2, 5, 2, 5, 1]


def _spelled(value: str) -> str:
    return value.replace("%", "%25").replace("'", "%27").replace("/", "%2F").replace("=", "%3D")


def test_the_portals_own_jobs_see_everything(lake: ActLake, tmp_path: Path) -> None:
    argv = submit_argv(
        module="m", tag="t", spool="s", config=lake.config, log_file=tmp_path / "log"
    )
    assert f"spark.hadoop.{SHOWS_ALL}=true" in argv
    assert not any("filter.hook" in word or HOOK.name in word for word in argv)


@pytest.fixture
def reader(embedded_stack: Stack, tmp_path: Path) -> Iterator[SqlShell]:
    """A Spark session of somebody who reads offline, with the hook as the papers install it."""
    lakes = json.loads(embedded_stack.lakes_file.read_text())
    lakes["main"]["spark_jars"].append(str(HOOK))
    lakes["main"]["spark_conf"] |= {
        f"spark.hadoop.{HOOKED.partition('=')[0]}": HOOKED.partition("=")[2],
        "spark.hadoop.hive.security.authorization.manager": "org.apache.hadoop.hive.ql.security."
        "authorization.DefaultHiveAuthorizationProvider",
    }
    lakes_file = tmp_path / "lakes.json"
    lakes_file.write_text(json.dumps(lakes))
    shell = SqlShell(embedded_stack, lakes_file=lakes_file)
    yield shell
    shell.close()


@pytest.mark.django_db
def test_spark_reads_a_partition_once_it_was_said_to_be_ready(
    embedded_stack: Stack, reader: SqlShell, settings: Settings
) -> None:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    db = f"ready_{uuid.uuid4().hex[:8]}"
    name = TableName(embedded_stack.config().lake, db, "t")
    rows = f"(1, 'a', '1'), (2, 'a', '2'), (3, 'b', '1'), (4, \"{ODD}\", '2')"
    reader.run(f"create database {db}")
    for table, form in (("t", "textfile"), ("p", "parquet")):
        keys = "(id int) partitioned by (dt string, h string) stored as"
        reader.run(
            f"create table {db}.{table} {keys} {form}",
            " ".join((f"insert into {db}.{table} values", rows)),
        )

    def say(*partitions: str, ready: bool) -> None:
        for table in ("t", "p"):
            mark = Mark("main", f"{db}.{table}", partitions, ready=ready)
            partitions_mark(mark, user=None, now=timezone.now())

    both = f"(table {db}.t union all table {db}.p)"

    def sees(n_names: int, *ids: int) -> None:
        assert len(reader.run(f"show partitions {db}.t")) == n_names
        assert reader.run(" ".join(("select count(*) from", both))) == [[2 * len(ids)]]
        found = reader.run(" ".join(("select id from", both, "where dt <> 'b' order by id")))
        assert [row[0] for row in found] == sorted([one for one in ids if one != 3] * 2)

    sees(4, 1, 2, 3, 4)
    say("h=2", ready=False)
    sees(2, 1, 3)
    reader.run(f"set {SHOWS_ALL}=true")
    sees(4, 1, 2, 3, 4)
    reader.run(f"reset {SHOWS_ALL}")
    say("dt=a/h=2", ready=True)
    sees(3, 1, 2, 3)
    reader.run(f"drop database {db} cascade")
    with Metastore.connect(embedded_stack.config()) as metastore:
        assert metastore.table_or_none(name) is None, "a drop of the whole goes as ever"
