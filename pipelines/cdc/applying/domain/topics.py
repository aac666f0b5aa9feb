"""Plain topics of Kafka as tables: columns, the text of a JSON value, the offsets of a batch.

A record never changes, so its key is its place. Whatever it has beyond the declared columns makes a
new schema whose columns are text, and whose values wait for a decision as those of any source do.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from pipelines.cdc.applying.domain.casts import check_type
from pipelines.cdc.applying.domain.messages import Column
from pipelines.cdc.changes.domain.schemas import Column as SourceColumn
from pipelines.cdc.changes.domain.schemas import TableSchema
from portal.lake.errors import RuleViolation

DB = "kafka"
"""What a topic has for the name of its database."""

KEY = ("kafka_topic", "kafka_partition", "kafka_offset")
TAKEN = {
    "kafka_topic": "string",
    "kafka_partition": "int",
    "kafka_offset": "bigint",
    "kafka_timestamp": "timestamp",
    "kafka_key": "string",
    "kafka_headers": "string",
}
"""Columns that come of the record itself: those of the key always, the others where declared."""

_SOURCE = {"string": "longtext", "boolean": "bit(1)", "timestamp": "datetime(6)"}
_CLOCK = "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{1,6})?"
_ISO = f"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?"
_MOST_COLUMNS = 1000
_LONGEST = 128

Offsets = dict[str, dict[int, int]]
"""Of each topic and partition: the offset after the last record."""


def check_columns(columns: Sequence[Column]) -> None:
    """Refuse what cannot be the columns of a topic's table.

    Raises:
        RuleViolation: `pipeline.spec`.
    """
    names = [one.name for one in columns]
    if not 0 < len(columns) <= _MOST_COLUMNS:
        raise _refused(f"Declare 1-{_MOST_COLUMNS} columns, a name and a type each.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise _refused(f"Column {twice[0]} is declared twice.")
    for column in columns:
        if not column.name or len(column.name) > 128 or not column.name.isprintable():
            raise _refused(f"{column.name[:50]!r} is no name of a column.")
        if column.type == "binary":
            raise _refused("JSON has no binary values: declare a string.")
        try:
            check_type(column.type)
        except RuleViolation as error:
            raise _refused(error.message) from error
        taken = TAKEN.get(column.name, column.type)
        if column.type != taken:
            raise _refused(f"{column.name} comes of the record and is {taken}.")


def columns_of(text: str) -> tuple[Column, ...]:
    """Read declared columns, `name type` a line.

    Raises:
        RuleViolation: `pipeline.spec`.
    """
    columns = []
    for line in filter(None, (one.strip() for one in text.splitlines())):
        name, _, kind = line.partition(" ")
        columns.append(Column(name, kind.strip().lower().replace(" ", "")))
    check_columns(columns)
    return tuple(columns)


def first_schema(topic: str, columns: Sequence[Column]) -> TableSchema:
    """Return the schema that was declared, with the columns of the key before it."""
    declared = [one for one in columns if one.name not in KEY]
    every = [*(Column(name, TAKEN[name]) for name in KEY), *declared]
    return TableSchema(
        DB, topic, 1, 1, tuple(_source(one, is_key=one.name in KEY) for one in every), KEY
    )


def next_schema(latest: TableSchema, names: Iterable[str], *, version: int) -> TableSchema:
    """Return the schema that has some more columns, as text."""
    more = tuple(SourceColumn(name, "longtext") for name in sorted(names))
    return msgspec.structs.replace(
        latest, number=latest.number + 1, version=version, columns=(*latest.columns, *more)
    )


def text_sql(column: str, kind: str, fields: str, number: str) -> str:
    """Return the expression of a field's text as `casts` reads it.

    `fields` is the expression of all fields as texts, `number` that of the field as a decimal:
    Spark reads a number with a point as a double, which has not all digits of a decimal.
    """
    text = f"{fields}[{_literal(column)}]"
    if kind.startswith("decimal"):
        return f"coalesce(CAST({number} AS STRING), {text})"
    if kind == "boolean":
        return f"CASE {text} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {text} END"
    if kind == "timestamp":
        value = f"date_format(try_cast({text} AS timestamp), 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
        return f"CASE WHEN {text} RLIKE '^{_ISO}$' THEN coalesce({value}, {text}) ELSE {text} END"
    return text


def lake_types(columns: Iterable[SourceColumn]) -> dict[str, str]:
    """Return the lake's type of each column of a topic's schema."""
    back = {source: lake for lake, source in _SOURCE.items()}
    return {one.name: back.get(one.type, one.type) for one in columns}


def offsets_text(offsets: Offsets) -> str:
    """Return offsets as one text."""
    return json.dumps(offsets, sort_keys=True, separators=(",", ":"))


def offsets_of(text: str) -> Offsets:
    """Read what `offsets_text` wrote."""
    found = msgspec.json.decode(text.encode(), type=dict[str, dict[int, int]], strict=False)
    return {topic: dict(places) for topic, places in found.items()}


def cut(
    done: Offsets, there: Mapping[tuple[str, int], tuple[int, int]], *, most: int
) -> tuple[Offsets, Offsets]:
    """Return where the next batch begins, and where all partitions are after it.

    `there` has of each partition its first offset and the one after its last; `most` is how many
    offsets a batch takes of one partition. Nothing new gives an empty beginning.
    """
    begins: Offsets = {}
    ends: Offsets = {topic: dict(places) for topic, places in done.items()}
    for (topic, partition), (first, end) in sorted(there.items()):
        begin = done.get(topic, {}).get(partition, first)
        if end > begin:
            begins.setdefault(topic, {})[partition] = begin
            ends.setdefault(topic, {})[partition] = min(end, begin + most)
    return begins, ends


def _source(column: Column, *, is_key: bool) -> SourceColumn:
    kind = _SOURCE.get(column.type, column.type)
    return SourceColumn(column.name, kind, is_nullable=not is_key)


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _refused(message: str) -> RuleViolation:
    return RuleViolation("pipeline.spec", message, field="columns")
