"""Reads lines of a changelog as rows of a DataFrame, and refuses a batch that is not whole.

In files a line that is no record is refused, for a file can be repaired; in Kafka it is kept aside.
Only what routes a record is read here; its values stay in the line until the table's columns are
known.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from pipelines.cdc.applying.jobs.reading.batches import FOREIGN
from pipelines.cdc.changes.domain.records import decode_change, decode_header
from portal.lake.errors import PortalError, RuleViolation

_RECORD = (
    "source STRING, fence BIGINT, begin STRING, end STRING, n_changes BIGINT, "
    "db STRING, table STRING, op STRING, version BIGINT, key MAP<STRING, STRING>, schema BIGINT, "
    "position STRING, at BIGINT, bad STRING"
)
_AFTER = '"after":{'
"""Stands in the line of each record with values, and in no text, where quotes are escaped."""
_CHANGE, _HEADER, _BAD = "change", "header", "bad"


@dataclass(frozen=True)
class Group:
    """The records of one table and schema in some batches."""

    db: str
    table: str
    schema: int
    n: int
    sample: str
    """One record that has values; empty where all are deletes."""

    @property
    def name(self) -> str:
        """The source's name of the table."""
        return f"{self.db}.{self.table}"


@dataclass(frozen=True)
class Head:
    """The last batch of some, as its header says."""

    number: int
    end: str
    at: int


def parsed(lines: DataFrame) -> DataFrame:
    """Return records of `number` and `value`, one a line; `kind` says what each is."""
    options = {"columnNameOfCorruptRecord": "bad"}
    read = lines.select("*", F.from_json("value", _RECORD, options).alias("r"))
    kind = F.when(F.col("number") == FOREIGN, _BAD).otherwise(_kind())
    return read.select(*lines.columns, "r.*").withColumn("kind", kind)


def bad_of(records: DataFrame) -> DataFrame:
    """Return what is no record of a batch, with where it is in Kafka."""
    place = records.where(F.col("kind") == _BAD).select("topic", "partition", "offset", "value")
    return place.withColumn("value", F.col("value").cast("binary"))


def changes_of(records: DataFrame, db: str, table: str) -> DataFrame:
    """Return the changes of one table; what only a header has is left out."""
    wanted = (F.col("kind") == _CHANGE) & (F.col("db") == db) & (F.col("table") == table)
    return records.where(wanted).select(
        "number", "value", "op", "version", "key", "schema", "position", "at"
    )


@dataclass(frozen=True)
class Checked:
    """What some batches have."""

    groups: list[Group]
    heads: list[Head]
    n_bad: int
    """Lines that are to be kept aside."""


def checked(records: DataFrame, *, keeps_bad: bool = False) -> Checked:
    """Return the groups of some batches and their headers in order, after a look at each line.

    Raises:
        RuleViolation: `cdc.record`, a line is no record and bad ones are not kept aside;
            `cdc.batch`, lines are missing.
    """
    rows = _summary(records)
    by_number: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_number[row["number"]].append(row)
    by_number.pop(FOREIGN, None)
    heads = [_head(number, by_number[number], keeps_bad=keeps_bad) for number in sorted(by_number)]
    return Checked(_groups(rows), heads, sum(row["n"] for row in rows if row["kind"] == _BAD))


def checked_groups(records: DataFrame) -> list[Group]:
    """Return the groups of records that were read and checked before, and kept."""
    return _groups(_summary(records))


def _summary(records: DataFrame) -> list[Row]:
    values = F.when((F.col("kind") == _BAD) | (F.col("op") != "d"), F.col("value"))
    head = F.when(F.col("kind") == _HEADER, F.struct("n_changes", "end", "at", "fence"))
    return (
        records.groupBy("number", "kind", "db", "table", "schema")
        .agg(
            F.count("*").alias("n"),
            F.first(values, ignorenulls=True).alias("sample"),
            # A list, because Spark sorts all lines by their group for the maximum of a struct.
            F.collect_list(head).alias("heads"),
        )
        .collect()
    )


def _kind() -> Column:
    has = F.col
    is_header = has("n_changes").isNotNull() & has("source").isNotNull() & has("end").isNotNull()
    is_change = (
        has("op").isin("c", "u", "d", "r")
        & has("db").isNotNull()
        & has("table").isNotNull()
        & (has("version") > 0)
        & (F.size("key") > 0)
        & has("schema").isNotNull()
        & has("position").isNotNull()
        & has("at").isNotNull()
        & ((has("op") == "d") | has("value").contains(_AFTER))
    )
    return (
        F.when(has("bad").isNotNull(), _BAD)
        .when(is_header & has("op").isNull(), _HEADER)
        .when(is_change, _CHANGE)
        .otherwise(_BAD)
    )


def _head(number: int, rows: Sequence[Row], *, keeps_bad: bool) -> Head:
    bad = [row for row in rows if row["kind"] == _BAD]
    if bad and not keeps_bad:
        _refuse(number, str(bad[0]["sample"]))
    heads = [row for row in rows if row["kind"] == _HEADER]
    n_heads = sum(row["n"] for row in heads)
    n = sum(row["n"] for row in rows if row["kind"] == _CHANGE)
    if n_heads != 1:
        raise _torn(number, f"{n_heads} headers")
    (head,) = heads[0]["heads"]
    # One that cannot be read is one of the batch, or somebody else's among them.
    if not n <= head["n_changes"] <= n + sum(row["n"] for row in bad):
        raise _torn(number, f"{n} of {head['n_changes']} changes")
    return Head(number, head["end"], head["at"])


def _groups(rows: Iterable[Row]) -> list[Group]:
    counts: dict[tuple[str, str, int], int] = defaultdict(int)
    samples: dict[tuple[str, str, int], str] = {}
    for row in rows:
        if row["kind"] == _CHANGE:
            key = (row["db"], row["table"], row["schema"])
            counts[key] += row["n"]
            samples[key] = row["sample"] or samples.get(key, "")
    return [Group(*key, n, samples[key]) for key, n in sorted(counts.items())]


def _refuse(number: int, line: str) -> NoReturn:
    """Raise what the record's own decoder says of a line."""
    try:
        (decode_header if '"n_changes"' in line else decode_change)(line.encode())
    except PortalError as error:
        raise RuleViolation(error.code, f"Batch {number}: {error.message}") from error
    raise RuleViolation(
        "cdc.record", f"Batch {number}: a line of {len(line)} letters is no record of a changelog."
    )


def _torn(number: int, what: str) -> RuleViolation:
    return RuleViolation(
        "cdc.batch",
        f"Batch {number} has {what}: it was changed after it was written. Bring the file back from "
        "a copy, or reload the pipeline.",
        batch=number,
    )
