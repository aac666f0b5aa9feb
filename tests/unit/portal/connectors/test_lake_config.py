"""A lake's configuration is read whole, or refused with what is wrong in it."""

from typing import Any

import pytest

from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId

LAKE = LakeConfig(
    lake=LakeId("main"),
    thrift_host="h",
    thrift_port=1,
    metastore_db=MetastoreDb("derby", "j", "d", "u", "f", "h", 1, "m"),
    default_fs="hdfs://nn:8020",
    spool="hdfs://nn:8020/spool",
    time_zone="UTC",
    spark_master="local[*]",
    deployment_id="x",
)


@pytest.mark.parametrize("version", [0, 6, 8, 9])
def test_materializations_are_written_in_a_version_that_exists(version: int) -> None:
    found = LakeConfig.from_dict({**LAKE.as_dict(), "materialization_table_version": version})
    assert found.materialization_table_version == version
    assert LakeConfig.from_dict(found.as_dict()) == found


@pytest.mark.parametrize("version", [5, 7, 10, -1, "6", None, True])
def test_another_version_is_refused(version: Any) -> None:
    with pytest.raises(ExternalFailure, match="materialization_table_version must be 0, 6, 8 or 9"):
        LakeConfig.from_dict({**LAKE.as_dict(), "materialization_table_version": version})
    assert "materialization_table_version" in LAKE.as_dict()


@pytest.mark.parametrize("wrong", ["PII", [1], {"PII": True}, None])
def test_keys_of_a_lake_are_a_list_of_names(wrong: object) -> None:
    found = LakeConfig.from_dict({**LAKE.as_dict(), "protection_keys": ["PII", "DET"]})
    assert found.protection_keys == ("PII", "DET")
    assert LakeConfig.from_dict(found.as_dict()) == found
    with pytest.raises(ExternalFailure, match="protection_keys must be a list of names"):
        LakeConfig.from_dict({**LAKE.as_dict(), "protection_keys": wrong})


def test_properties_of_hadoop_clients_are_texts() -> None:
    own = {"dfs.nameservices": "lake"}
    assert LakeConfig.from_dict({**LAKE.as_dict(), "hadoop_conf": own}).hadoop_conf == own
    for value in (True, 1, None):
        with pytest.raises(ExternalFailure, match=r"hadoop_conf\.a must be a text in quotes"):
            LakeConfig.from_dict({**LAKE.as_dict(), "hadoop_conf": {"a": value}})
