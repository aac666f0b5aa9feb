"""The lifecycle room's rules as acting jobs apply them to fresh metastore structures."""

from typing import Any

import pytest
from pymetastore.hive_metastore import ttypes

from lifecycle.planning.jobs.acting import LifecycleRules
from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.lake.ids import LakeId

_TEXT = "org.apache.hadoop.mapred.TextInputFormat"
_LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


@pytest.fixture
def rules() -> LifecycleRules:
    config = LakeConfig(
        lake=LakeId("main"),
        thrift_host="h",
        thrift_port=1,
        metastore_db=MetastoreDb("derby", "j", "d", "u", "f", "h", 1, "m"),
        default_fs="hdfs://nn:8020",
        spool="hdfs://nn:8020/spool",
        time_zone="UTC",
        spark_master="local[*]",
        deployment_id="x",
        path_aliases={"lake": "nn:8020"},
    )
    return LifecycleRules(config)


def _table(parameters: dict[str, str], *, location: str = "/d/t", path: str | None = None) -> Any:
    return ttypes.Table(
        tableType="MANAGED_TABLE",
        parameters={"LEVEL": "1", "TTL": "60", **parameters},
        sd=ttypes.StorageDescriptor(
            location=location,
            inputFormat=_TEXT,
            serdeInfo=ttypes.SerDeInfo(
                serializationLib=_LAZY, parameters={"path": path} if path else {}
            ),
        ),
    )


def test_a_database_that_cannot_be_acted_in_refuses_its_tables(rules: LifecycleRules) -> None:
    table = _table({})
    table.dbName = "far"
    assert rules.refusal(table) is None
    outside = LifecycleRules(rules._config, outside={"far": "another rename domain"})
    assert outside.refusal(table) == "another rename domain"


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({}, None),
        ({"transactional": "true"}, "ACID"),
        ({"table_type": "ICEBERG"}, "Iceberg"),
        ({"LEVEL": "0"}, "keep for ever"),
        ({"ttl": "7"}, "Both TTL and ttl"),
        ({"TTL": "soon"}, "TTL is 'soon'"),
    ],
)
def test_a_table_that_must_be_left_alone_says_why(
    rules: LifecycleRules, parameters: dict[str, str], reason: str | None
) -> None:
    said = rules.refusal(_table(parameters))
    assert (said is None) if reason is None else (said is not None and reason in said)


def test_the_location_acted_on_is_the_effective_and_canonical_one(rules: LifecycleRules) -> None:
    plain = rules.location(_table({}, location="hdfs://lake/d/t/"), None)
    assert str(plain) == "hdfs://nn:8020/d/t"
    source = {"spark.sql.sources.provider": "parquet"}
    table = _table(source, location="/d/t-__PLACEHOLDER__", path="hdfs://lake/e/t")
    assert str(rules.location(table, None)) == "hdfs://nn:8020/e/t"
    assert rules.location(_table({}, location="/d/../t"), None) is None
    partition = ttypes.Partition(sd=ttypes.StorageDescriptor(location="/d/t/dt=1"), parameters={})
    assert str(rules.location(table, partition)) == "hdfs://nn:8020/d/t/dt=1"


def test_level_and_ttl_are_read_as_they_stand_now(rules: LifecycleRules) -> None:
    found = rules.policy(_table({"TTL": "61"}))
    assert (found.level, found.ttl) == (1, 61)
