"""`manage.py check_lake` on a secured lake."""

import uuid
from dataclasses import replace

from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.reach.lake_check import Reach, check_lake
from stack.kerberized_stack import KerberizedStack
from stack.servers.kdc import HOST, REALM


def test_every_system_says_who_came(secured: KerberizedStack) -> None:
    found = {row.system: row for row in check_lake(secured.config())}
    assert {name: row.advice for name, row in found.items() if row.advice} == {}
    me = f"lakewarden@{REALM}"
    names = ("Kerberos ticket", "Metastore", "Notification log", "Spool")
    assert {name: found[name].as_whom for name in names} == {
        "Kerberos ticket": me,
        "Metastore": me,
        "Notification log": me,
        "Spool": "lakewarden",
    }


def test_a_principal_that_drivers_refuse_is_told_although_the_portal_s_calls_succeed(
    secured: KerberizedStack,
) -> None:
    config = secured.config()
    assert _row(config).detail.endswith(f"is hdfs/{HOST}")
    wrong = _row(_expecting(config, f"nn/_HOST@{REALM}"))
    assert (wrong.is_reached, wrong.detail) == (False, "check.name_node_principal")
    elsewhere = _row(_expecting(config, "hdfs/_HOST@ELSEWHERE.TEST"))
    assert not elsewhere.is_reached
    assert f"hdfs/{HOST}@ELSEWHERE.TEST" in elsewhere.advice


def _row(config: LakeConfig) -> Reach:
    rows = {row.system: row for row in check_lake(config)}
    assert rows["File system"].is_reached
    return rows["NameNodes' principal"]


def _expecting(config: LakeConfig, principal: str) -> LakeConfig:
    named = {"dfs.namenode.kerberos.principal": principal}
    return replace(config, hadoop_conf={**config.hadoop_conf, **named})


def test_who_may_not_write_is_told_so(secured: KerberizedStack) -> None:
    found = {row.system: row for row in check_lake(secured.config_of("alice"))}
    assert found["Metastore"].is_reached
    assert not found["Backup root"].is_reached
    assert "user=alice" in found["Backup root"].advice


def test_a_jar_is_read_as_who_starts_the_drivers(secured: KerberizedStack) -> None:
    lake = secured.config()
    place = f"{lake.default_fs}/tmp/{uuid.uuid4().hex}.jar"
    path = lake.path(place)
    fs = open_file_system(path, config=lake)
    fs.write_new(path, b"PK")
    fs.set_mode(path, 0o600)
    told = {}
    for who, config in {"me": lake, "alice": secured.config_of("alice")}.items():
        rows = check_lake(replace(config, spark_jars=(place,)))
        (told[who],) = [row for row in rows if row.system == "Spark jar"]
    assert told["me"].detail == "2 bytes, of lakewarden"
    assert not told["alice"].is_reached
    assert "user=alice, access=READ" in told["alice"].advice


def test_a_standalone_master_without_a_secret_is_told_so(secured: KerberizedStack) -> None:
    config = replace(secured.config(), spark_master="spark://127.0.0.1:7077")
    (row,) = [row for row in check_lake(config) if row.system == "Spark master"]
    assert row.detail == "kerberos.standalone"
