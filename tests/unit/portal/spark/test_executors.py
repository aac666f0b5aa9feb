"""Whether an executor's Python may open the lake's files."""

from dataclasses import replace
from pathlib import Path

import pytest

from portal.connectors.kerberos.settings import Kerberos
from portal.lake.ids import LakeId
from portal.spark.masters.executors import can_log_in
from tests.support.lakes import local_lake


@pytest.mark.parametrize(
    ("master", "with_kerberos"),
    [
        ("local[2]", True),
        ("yarn", False),
        ("spark://host:7077", False),
        ("k8s://https://api:6443", False),
    ],
)
def test_only_local_executors_have_the_keytab(
    tmp_path: Path, master: str, with_kerberos: bool
) -> None:
    lake = replace(local_lake(tmp_path, LakeId("main")), spark_master=master)
    assert can_log_in(lake)
    kerberos = Kerberos("a@EXAMPLE.COM", "/keytab", "hive/_HOST@EXAMPLE.COM")
    assert can_log_in(replace(lake, kerberos=kerberos)) is with_kerberos
