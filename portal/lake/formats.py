"""Decides which tables the portal may act on, and where their data really is.

An allow-list: native, non-transactional formats only. Anything else, known or not, is unsupported
with its reason, because moving such data by directory would break it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

PROVIDER = "spark.sql.sources.provider"
CommittedFormat = Literal["iceberg", "hudi"]
HUDI_SAME_ROWS = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX", "BUCKET_RESCALE"})
"""Operations of Hudi's commits that change no row of the table."""

VIEWS = frozenset({"VIRTUAL_VIEW", "MATERIALIZED_VIEW"})
_TABLES = frozenset({"MANAGED_TABLE", "EXTERNAL_TABLE"})
_DATASOURCES = frozenset({"parquet", "orc", "csv", "json", "text", "avro"})
_LAKE_FORMATS = frozenset({"iceberg", "hudi", "delta", "paimon"})

# Hive's own (input format, serde) pairs, by the short name that pages show.
_PARQUET = (
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
)
_ORC = (
    "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
)
_AVRO = (
    "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
    "org.apache.hadoop.hive.serde2.avro.AvroSerDe",
)
_RCFILE = "org.apache.hadoop.hive.ql.io.RCFileInputFormat"
_TEXT = "org.apache.hadoop.mapred.TextInputFormat"
_SEQUENCE = "org.apache.hadoop.mapred.SequenceFileInputFormat"
_LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_TEXT_SERDES = {
    _LAZY: "text",
    "org.apache.hadoop.hive.serde2.OpenCSVSerde": "csv",
    "org.apache.hadoop.hive.serde2.RegexSerDe": "text",
    "org.apache.hadoop.hive.serde2.JsonSerDe": "json",
    "org.apache.hive.hcatalog.data.JsonSerDe": "json",
}
_NATIVE = {
    _PARQUET: "parquet",
    _ORC: "orc",
    _AVRO: "avro",
    (_RCFILE, "org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe"): "rcfile",
    (_RCFILE, "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"): "rcfile",
    (_SEQUENCE, _LAZY): "sequencefile",
    **{(_TEXT, serde): name for serde, name in _TEXT_SERDES.items()},
}


@dataclass(frozen=True, slots=True)
class Supported:
    """A native format, by its short name."""

    format: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A table that is left alone, the sentence that says why, and what it seems to be."""

    reason: str
    format: str


def judge_format(
    table_type: str,
    parameters: Mapping[str, str],
    *,
    serde: str | None,
    input_format: str | None,
) -> Supported | Unsupported:
    """Decide by table type, parameters and storage classes; nothing unknown is supported."""
    if table_type in VIEWS:
        return Unsupported("A view has no data of its own.", "view")
    if table_type not in _TABLES:
        return Unsupported(f"Table type {table_type!r} is not known here.", "unknown")
    refused = _refused_by_parameters(parameters)
    if refused is not None:
        return refused
    provider = parameters.get(PROVIDER, "hive").strip().lower()
    if provider in _DATASOURCES:
        return Supported(provider)
    if provider != "hive":
        return Unsupported(f"Spark data source {provider!r} is not on the list.", provider)
    native = _NATIVE.get((input_format or "", serde or ""))
    if native is None:
        return Unsupported(
            f"Storage with input format {input_format or 'none'!r} and serde {serde or 'none'!r} "
            "is not on the list of native formats.",
            "unknown",
        )
    return Supported(native)


def judge_table(table: Any) -> Supported | Unsupported:
    """Decide about a table as the metastore gives it."""
    serde = table.sd.serdeInfo if table.sd else None
    return judge_format(
        table.tableType,
        table.parameters or {},
        serde=serde.serializationLib if serde else None,
        input_format=table.sd.inputFormat if table.sd else None,
    )


def committed_format(table: Any) -> CommittedFormat | None:
    """Return the format of a table of the metastore whose commits can be read; None: of others."""
    parameters = {key.lower(): str(value) for key, value in (table.parameters or {}).items()}
    if parameters.get("table_type", "").lower() == "iceberg":
        return "iceberg"
    reader = str(table.sd.inputFormat or "").lower() if table.sd else ""
    if parameters.get(PROVIDER, "").lower() == "hudi" or "hudi" in reader:
        return "hudi"
    return None


def effective_location(
    sd_location: str | None,
    serde_parameters: Mapping[str, str],
    parameters: Mapping[str, str],
) -> str | None:
    """Return the location that holds a table's data.

    For Spark data source tables that is the serde parameter `path`; SDS.LOCATION may then be a
    placeholder. Partitions have their own SDS.LOCATION always.
    """
    if parameters.get(PROVIDER, "hive").strip().lower() != "hive":
        return serde_parameters.get("path") or sd_location
    return sd_location


def _refused_by_parameters(parameters: Mapping[str, str]) -> Unsupported | None:
    """Find the marks of formats that keep their own metadata, whatever the storage classes say."""
    lower = {key.lower(): value.strip().lower() for key, value in parameters.items()}
    if lower.get("transactional") == "true":
        return Unsupported("A transactional (ACID) Hive table keeps its own deltas.", "acid")
    named = {lower.get("table_type", ""), lower.get(PROVIDER, "")} & _LAKE_FORMATS
    if named:
        name = min(named)
        return Unsupported(f"{name.capitalize()} tables keep their own metadata.", name)
    if "metadata_location" in lower:
        return Unsupported("Iceberg tables keep their own metadata.", "iceberg")
    if "last_commit_time_sync" in lower or "hoodie.table.name" in lower:
        return Unsupported("Hudi tables keep their own metadata.", "hudi")
    if lower.get("storage_handler"):
        return Unsupported(
            f"Data is behind the storage handler {parameters.get('storage_handler', '')!r}.",
            "storage handler",
        )
    return None


def registered_location(table: Any, partition: Any | None) -> str | None:
    """Return the location of a table, or of a partition of it, as the metastore gives them."""
    if partition is not None:
        location: str | None = partition.sd.location
        return location
    serde = table.sd.serdeInfo.parameters if table.sd.serdeInfo else None
    return effective_location(table.sd.location, serde or {}, table.parameters or {})
