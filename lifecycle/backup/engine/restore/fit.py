"""Checks, from metadata alone, whether partitions of a backup fit into an existing table.

A reader takes a partition's files for what the table says: keys, columns, format. So what is not
surely the same is refused. Columns that the table has beyond those of the backup are fine.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

PROVIDER = "spark.sql.sources.provider"

_VIEWS = frozenset({"VIRTUAL_VIEW", "MATERIALIZED_VIEW"})
_SCHEMA = "spark.sql.sources.schema"
# Parameters by which formats that keep their own metadata are known, and Spark's own sources.
_NATURE = (
    PROVIDER,
    "transactional",
    "storage_handler",
    "table_type",
    "metadata_location",
    "hoodie.table.name",
    "last_commit_time_sync",
)
_NO_OPTIONS = frozenset({"path", "serialization.format"})

Column = tuple[str, str]


def table_mismatch(original: Any, live: Any) -> str:
    """Name the rule by which partitions of one Thrift table cannot come into another; '' = none."""
    if live.tableType in _VIEWS:
        return "it is a view and holds no data"
    there, here = _columns(live.partitionKeys), _columns(original.partitionKeys)
    if there != here:
        return f"its partition keys are {_words(there)}, the backup's are {_words(here)}"
    return (
        _nature_mismatch(original, live)
        or storage_mismatch(original.sd, live.sd)
        or _bucket_mismatch(original, live)
        or _columns_mismatch(_spark_columns(original), _spark_columns(live))
    )


def storage_mismatch(here: Any, live: Any) -> str:
    """Name the rule by which files stored as `here` cannot be read as a table stored as `live`."""
    if _format(here) != _format(live):
        return f"its file format is {_format(live)}, the backup's is {_format(here)}"
    there, mine = _options(live), _options(here)
    for name in sorted(there.keys() | mine.keys()):
        if there.get(name) != mine.get(name):
            return f"its {name!r} is {there.get(name)!r}, the backup's is {mine.get(name)!r}"
    return _columns_mismatch(_columns(here.cols), _columns(live.cols))


def _columns_mismatch(here: list[Column] | None, there: list[Column] | None) -> str:
    """Columns count by their position: some formats know no names."""
    if here is None or there is None:
        return ""
    for n, column in enumerate(here):
        if n >= len(there):
            return f"it has no column {n + 1}, which is {_words([column])} in the backup"
        if there[n] != column:
            return f"its column {n + 1} is {_words([there[n]])}, the backup's is {_words([column])}"
    return ""


def _nature_mismatch(original: Any, live: Any) -> str:
    there, here = _nature(live.parameters), _nature(original.parameters)
    for name in _NATURE:
        if there[name] != here[name]:
            return f"its {name!r} is {there[name]!r}, the backup's is {here[name]!r}"
    return ""


def _nature(parameters: Mapping[str, str] | None) -> dict[str, str]:
    lower = {key.lower(): value.strip().lower() for key, value in (parameters or {}).items()}
    found = {name: lower.get(name, "") for name in _NATURE}
    return {**found, PROVIDER: found[PROVIDER] or "hive"}


def _bucket_mismatch(original: Any, live: Any) -> str:
    return "" if _buckets(original) == _buckets(live) else "it is bucketed in another way"


def _buckets(table: Any) -> tuple[Any, ...]:
    sd, parameters = table.sd, table.parameters or {}
    ours = {key: value for key, value in parameters.items() if key.startswith(f"{_SCHEMA}.num")}
    ours.pop(f"{_SCHEMA}.numParts", None)
    ours.pop(f"{_SCHEMA}.numPartCols", None)
    named = {
        key: value
        for key, value in parameters.items()
        if key.startswith((f"{_SCHEMA}.bucketCol.", f"{_SCHEMA}.sortCol."))
    }
    n_buckets = max(sd.numBuckets or 0, 0)
    return n_buckets, sd.bucketCols or [], sd.sortCols or [], ours, named


def _spark_columns(table: Any) -> list[Column] | None:
    """Read the columns that Spark itself goes by; None where it wrote none down."""
    parameters = table.parameters or {}
    text = parameters.get(_SCHEMA)
    n_parts = parameters.get(f"{_SCHEMA}.numParts")
    if text is None and n_parts is None:
        return None
    keys = {name for name, _ in _columns(table.partitionKeys)}
    try:
        if text is None:
            parts = [parameters[f"{_SCHEMA}.part.{n}"] for n in range(int(n_parts or 0))]
            text = "".join(parts)
        fields = json.loads(text)["fields"]
        columns = [(one["name"].lower(), json.dumps(one["type"])) for one in fields]
    except (ValueError, KeyError, TypeError):
        # Not readable is not known to be the same: it fits only what reads exactly so.
        return [("unreadable schema", text or "")]
    return [column for column in columns if column[0] not in keys]


def _columns(fields: Iterable[Any] | None) -> list[Column]:
    return [(one.name.lower(), (one.type or "").lower()) for one in fields or ()]


def _format(sd: Any) -> str:
    serde = (sd.serdeInfo.serializationLib or "") if sd.serdeInfo else ""
    return f"{sd.inputFormat or 'none'} with {serde or 'none'}"


def _options(sd: Any) -> dict[str, str]:
    parameters = (sd.serdeInfo.parameters or {}) if sd.serdeInfo else {}
    return {key: value for key, value in parameters.items() if key not in _NO_OPTIONS}


def _words(columns: Iterable[Column]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns) or "none"
