"""Only native formats on the list are acted on; everything else has its reason."""

import pytest
from pymetastore.hive_metastore import ttypes

from portal.lake.formats import (
    Supported,
    Unsupported,
    committed_format,
    effective_location,
    judge_format,
    judge_table,
    registered_location,
)

PARQUET_IN = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
PARQUET_SERDE = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
TEXT = "org.apache.hadoop.mapred.TextInputFormat"
SEQUENCE = "org.apache.hadoop.mapred.SequenceFileInputFormat"
SPARK = "spark.sql.sources.provider"


@pytest.mark.parametrize(
    ("parameters", "input_format", "serde", "name"),
    [
        ({}, PARQUET_IN, PARQUET_SERDE, "parquet"),
        ({}, TEXT, LAZY, "text"),
        ({}, TEXT, "org.apache.hadoop.hive.serde2.OpenCSVSerde", "csv"),
        ({}, SEQUENCE, LAZY, "sequencefile"),
        ({SPARK: "parquet"}, PARQUET_IN, PARQUET_SERDE, "parquet"),
        ({SPARK: "json"}, SEQUENCE, LAZY, "json"),
        ({SPARK: "ORC"}, None, None, "orc"),
        ({SPARK: "hive"}, TEXT, LAZY, "text"),
        ({"transactional": "false"}, PARQUET_IN, PARQUET_SERDE, "parquet"),
    ],
)
@pytest.mark.parametrize("table_type", ["MANAGED_TABLE", "EXTERNAL_TABLE"])
def test_native_formats_are_supported(
    table_type: str,
    parameters: dict[str, str],
    input_format: str | None,
    serde: str | None,
    name: str,
) -> None:
    verdict = judge_format(table_type, parameters, serde=serde, input_format=input_format)
    assert verdict == Supported(name)


@pytest.mark.parametrize(
    ("table_type", "parameters", "input_format", "name"),
    [
        ("VIRTUAL_VIEW", {}, TEXT, "view"),
        ("MATERIALIZED_VIEW", {}, PARQUET_IN, "view"),
        ("INDEX_TABLE", {}, PARQUET_IN, "unknown"),
        ("MANAGED_TABLE", {"transactional": "TRUE"}, PARQUET_IN, "acid"),
        ("EXTERNAL_TABLE", {"table_type": "ICEBERG"}, PARQUET_IN, "iceberg"),
        ("EXTERNAL_TABLE", {"metadata_location": "/x/v1.json"}, PARQUET_IN, "iceberg"),
        ("EXTERNAL_TABLE", {SPARK: "hudi"}, PARQUET_IN, "hudi"),
        ("EXTERNAL_TABLE", {"last_commit_time_sync": "2026"}, PARQUET_IN, "hudi"),
        ("EXTERNAL_TABLE", {SPARK: "delta"}, SEQUENCE, "delta"),
        ("EXTERNAL_TABLE", {"table_type": "paimon"}, PARQUET_IN, "paimon"),
        ("EXTERNAL_TABLE", {"storage_handler": "a.b.HBase"}, PARQUET_IN, "storage handler"),
        ("EXTERNAL_TABLE", {SPARK: "com.example.jdbc"}, PARQUET_IN, "com.example.jdbc"),
        ("EXTERNAL_TABLE", {}, "org.apache.hudi.hadoop.HoodieParquetInputFormat", "unknown"),
        ("EXTERNAL_TABLE", {}, None, "unknown"),
    ],
)
def test_everything_else_is_left_alone_with_a_reason(
    table_type: str, parameters: dict[str, str], input_format: str | None, name: str
) -> None:
    verdict = judge_format(table_type, parameters, serde=PARQUET_SERDE, input_format=input_format)
    assert isinstance(verdict, Unsupported)
    assert verdict.format == name
    assert verdict.reason.endswith(".")


@pytest.mark.parametrize(
    ("sd", "serde_parameters", "parameters", "location"),
    [
        ("/sd", {}, {}, "/sd"),
        ("/sd", {"path": "/real"}, {}, "/sd"),
        ("/sd", {"path": "/real"}, {SPARK: "parquet"}, "/real"),
        ("/sd", {}, {SPARK: "parquet"}, "/sd"),
        ("/sd", {"path": "/real"}, {SPARK: "hive"}, "/sd"),
        (None, {}, {}, None),
    ],
)
def test_spark_tables_live_where_their_path_says(
    sd: str | None,
    serde_parameters: dict[str, str],
    parameters: dict[str, str],
    location: str | None,
) -> None:
    assert effective_location(sd, serde_parameters, parameters) == location


def test_a_table_is_read_as_the_metastore_gives_it() -> None:
    serde = ttypes.SerDeInfo(serializationLib=PARQUET_SERDE, parameters={"path": "/real"})
    storage = ttypes.StorageDescriptor(inputFormat=PARQUET_IN, location="/sd", serdeInfo=serde)
    table = ttypes.Table(tableType="EXTERNAL_TABLE", parameters={SPARK: "orc"}, sd=storage)
    assert judge_table(table) == Supported("orc")
    assert registered_location(table, None) == "/real"
    partition = ttypes.Partition(sd=ttypes.StorageDescriptor(location="/sd/k=1"))
    assert registered_location(table, partition) == "/sd/k=1"


def test_a_view_without_storage_is_left_alone() -> None:
    assert isinstance(judge_table(ttypes.Table(tableType="VIRTUAL_VIEW")), Unsupported)


@pytest.mark.parametrize(
    ("parameters", "reader", "found"),
    [
        ({"table_type": "ICEBERG"}, None, "iceberg"),
        ({"TABLE_TYPE": "iceberg", SPARK: "hudi"}, None, "iceberg"),
        ({SPARK: "Hudi"}, None, "hudi"),
        ({}, "org.apache.hudi.hadoop.HoodieParquetInputFormat", "hudi"),
        ({SPARK: "parquet"}, PARQUET_IN, None),
        (None, None, None),
    ],
)
def test_tables_whose_commits_can_be_read(
    parameters: dict[str, str] | None, reader: str | None, found: str | None
) -> None:
    storage = None if reader is None else ttypes.StorageDescriptor(inputFormat=reader)
    assert committed_format(ttypes.Table(parameters=parameters, sd=storage)) == found
