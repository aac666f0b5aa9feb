"""A driver opens its spool before Spark, by what its command line says of the lake's clients."""

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from portal.connectors.kerberos.settings import Kerberos
from portal.lake.ids import LakeId
from portal.spark.masters import spool_access as module
from portal.spark.masters.spool_access import open_spool, spool_access
from tests.support.lakes import local_lake

LOG_IN = Kerberos("me@EXAMPLE.COM", "/etc/me.keytab", "hive/_HOST@EXAMPLE.COM")
SPOOL = "hdfs://lake/lakewarden/spool/1/1"


class Opened:
    """The file system that was asked for."""

    def __init__(self, authority: str, **asked: Any) -> None:
        self.authority = authority
        self.asked = asked


@pytest.fixture(autouse=True)
def _opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "HdfsFileSystem", Opened)
    monkeypatch.chdir(tmp_path)


def asked_for(tmp_path: Path, kerberos: Kerberos | None) -> dict[str, Any]:
    lake = replace(
        local_lake(tmp_path, LakeId("main")),
        hadoop_conf={"dfs.nameservices": "lake"},
        kerberos=kerberos,
    )
    fs = open_spool(SPOOL, *spool_access(lake)).fs
    assert isinstance(fs, Opened)
    assert fs.authority == "lake"
    return fs.asked


def test_a_driver_on_its_launchers_host_has_the_same_keytab(tmp_path: Path) -> None:
    assert asked_for(tmp_path, LOG_IN) == {
        "settings": {"dfs.nameservices": "lake"},
        "kerberos": LOG_IN,
    }
    assert asked_for(tmp_path, None)["kerberos"] is None


def test_a_driver_on_yarn_has_the_keytab_that_spark_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", "/tokens/that/nobody/renews")
    shipped = tmp_path / "__spark_conf__" / "__spark_conf__.properties"
    shipped.parent.mkdir()
    shipped.write_text("#Spark\nspark.kerberos.keytab=me.keytab-12\nspark.yarn.queue=q\n")
    asked = asked_for(tmp_path, LOG_IN)
    assert asdict(asked["kerberos"]) == {**asdict(LOG_IN), "keytab": "me.keytab-12"}
    assert "HADOOP_TOKEN_FILE_LOCATION" not in os.environ


def test_nothing_is_said_of_a_lake_without_properties(tmp_path: Path) -> None:
    assert spool_access(local_lake(tmp_path, LakeId("main"))) == []


def test_yarn_finds_no_braces_to_replace(tmp_path: Path) -> None:
    lake = replace(
        local_lake(tmp_path, LakeId("main")), kerberos=LOG_IN, hadoop_conf={"a": "{{b}}"}
    )
    (argument,) = spool_access(lake)
    assert not set("{}\"'$ ") & set(argument)
