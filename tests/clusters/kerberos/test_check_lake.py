"""`manage.py check_lake` on a secured lake."""

from dataclasses import replace

from portal.connectors.lake_config import LakeConfig
from portal.connectors.reach.lake_check import Reach, check_lake
from stack.kerberized_stack import KerberizedStack
from stack.servers.kdc import HOST, REALM


def test_every_system_says_who_came(secured: KerberizedStack) -> None:
    found = {row.system: row for row in check_lake(secured.config())}
    assert {name: row.advice for name, row in found.items() if row.advice} == {}
    me = f"lakewarden@{REALM}"
    assert {name: found[name].as_whom for name in ("Kerberos ticket", "Metastore", "Spool")} == {
        "Kerberos ticket": me,
        "Metastore": me,
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


def test_a_standalone_master_without_a_secret_is_told_so(secured: KerberizedStack) -> None:
    config = replace(secured.config(), spark_master="spark://127.0.0.1:7077")
    (row,) = [row for row in check_lake(config) if row.system == "Spark master"]
    assert row.detail == "kerberos.standalone"
