"""Hadoop's properties are written where each client reads them after its own defaults."""

import html
import re
from dataclasses import replace
from pathlib import Path

from portal.lake.ids import LakeId
from portal.spark.masters.hadoop_conf import write_hadoop_conf
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
    assert directory is not None
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


def test_a_lake_without_properties_has_no_directory(tmp_path: Path) -> None:
    assert write_hadoop_conf(local_lake(tmp_path, LakeId("main")), tmp_path / "runs") is None
    assert not (tmp_path / "runs").exists()
