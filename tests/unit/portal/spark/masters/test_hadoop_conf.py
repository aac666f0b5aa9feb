"""Hadoop's properties are written where each client reads them after its own defaults."""

import html
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.lake_config import LakeConfig
from portal.lake.ids import LakeId
from portal.spark.masters.hadoop_conf import (
    HADOOP_CONFIGURATION,
    hadoop_environment,
    write_hadoop_conf,
)
from tests.support.lakes import local_lake

_PROPERTY = re.compile(r"<name>(.*?)</name><value>(.*?)</value>")
_PROPERTIES = {
    "yarn.resourcemanager.address": "rm.example.org:8032",
    "dfs.nameservices": "lake",
    "hadoop.rpc.protection": "a<b&c",
}


def read(path: Path) -> dict[str, str]:
    rows = _PROPERTY.findall(path.read_text(encoding="utf-8"))
    return {name: html.unescape(value) for name, value in rows}


def test_each_property_is_in_the_file_of_its_client(tmp_path: Path) -> None:
    config = replace(local_lake(tmp_path, LakeId("main")), hadoop_conf=_PROPERTIES)
    directory = write_hadoop_conf(config, tmp_path / "runs")
    assert {path.name: read(path) for path in directory.iterdir()} == {
        "core-site.xml": {"fs.defaultFS": config.default_fs, "hadoop.rpc.protection": "a<b&c"},
        "hdfs-site.xml": {"dfs.nameservices": "lake"},
        "yarn-site.xml": {"yarn.resourcemanager.address": "rm.example.org:8032"},
    }
    modes = {path.stat().st_mode & 0o777 for path in directory.iterdir()}
    assert (directory.stat().st_mode & 0o777, modes) == (0o700, {0o600})


def test_runs_share_a_directory_until_the_properties_change(tmp_path: Path) -> None:
    lake = local_lake(tmp_path, LakeId("main"))
    one = write_hadoop_conf(replace(lake, hadoop_conf=_PROPERTIES), tmp_path)
    again = write_hadoop_conf(replace(lake, hadoop_conf=_PROPERTIES), tmp_path)
    changed = write_hadoop_conf(replace(lake, hadoop_conf={"dfs.replication": "2"}), tmp_path)
    assert one == again
    assert one != changed


def lake_of(tmp_path: Path, *, master: str, kerberos: bool, told: bool) -> LakeConfig:
    log_in = Kerberos("me@EXAMPLE.COM", "/etc/me.keytab", "hive/_HOST@EXAMPLE.COM")
    return replace(
        local_lake(tmp_path, LakeId("main")),
        spark_master=master,
        kerberos=log_in if kerberos else None,
        hadoop_conf=_PROPERTIES if told else {},
    )


@pytest.mark.parametrize(
    ("master", "kerberos", "told", "host_has_files", "is_written"),
    [
        ("yarn", False, True, False, True),
        ("yarn", False, True, True, True),
        ("yarn", False, False, False, False),
        ("yarn", True, True, True, True),
        ("yarn", True, False, True, False),
        ("k8s://api", True, False, False, True),
        ("local[2]", False, True, False, False),
        ("local[2]", True, True, False, True),
        ("local[2]", True, True, True, False),
    ],
)
def test_files_are_written_where_those_of_the_host_do_not_hold(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    master: str,
    kerberos: bool,
    told: bool,
    host_has_files: bool,
    is_written: bool,
) -> None:
    monkeypatch.delenv(HADOOP_CONFIGURATION, raising=False)
    if host_has_files:
        monkeypatch.setenv(HADOOP_CONFIGURATION, "/etc/hadoop/conf")
    lake = lake_of(tmp_path, master=master, kerberos=kerberos, told=told)
    runs = tmp_path / "runs"
    found = hadoop_environment(lake, runs)
    assert [Path(place).parent for place in found.values()] == [runs] * is_written
    assert runs.exists() is is_written


def test_one_directory_says_where_yarn_is_and_that_the_cluster_is_secured(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, master="yarn", kerberos=True, told=True)
    directory = Path(hadoop_environment(lake, tmp_path)[HADOOP_CONFIGURATION])
    assert read(directory / "core-site.xml")["hadoop.security.authentication"] == "kerberos"
    assert read(directory / "hdfs-site.xml") == {"dfs.nameservices": "lake"}
    assert "yarn.resourcemanager.address" in read(directory / "yarn-site.xml")


def test_submissions_at_one_moment_write_the_same_files(tmp_path: Path) -> None:
    lake = local_lake(tmp_path, LakeId("main"))

    def write(n: int) -> None:
        # Pairs of submissions have a directory of their own, so that each has to be made.
        properties = {**_PROPERTIES, "dfs.nameservices": f"lake{n // 4}"}
        write_hadoop_conf(replace(lake, hadoop_conf=properties), tmp_path / "runs")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(200)))
    found = list((tmp_path / "runs").glob("*/*"))
    assert len(found) == 3 * 50
    assert all(read(path) for path in found), "none is empty, and no draft is left"
