"""What changed in the metastore while it was being read? Such items are judged another day.

The events between the two notification ids name tables and, where they can be read, partitions. An
event that cannot be read counts for its whole table.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pymetastore.hive_metastore.ttypes import NotificationEvent
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lifecycle.domain.expiry import ExpiryClass, Rule
from portal.connectors.metastore import Metastore
from portal.events.names import former_name, partitions_named
from portal.lake.errors import ExternalFailure, RuleViolation

_PAGE = 1_000
_MAX_EVENTS = 200_000
_READ_ONLY = frozenset({"OPEN_TXN", "COMMIT_TXN", "ABORT_TXN", "ALLOC_WRITE_ID_EVENT"})
AFFECTED = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ)
_SCHEMA = "t_db string, t_tbl string, t_part string, event_id long"


@dataclass(frozen=True, slots=True)
class Touched:
    """A database (`table` empty), table (`partition` empty) or partition that changed."""

    db: str
    table: str
    partition: str
    event_id: int


def touched_since(metastore: Metastore, event_id: int) -> list[Touched]:
    """Read the events after `event_id`, each thing once.

    Raises:
        ExternalFailure: the log went backwards or is too long; the scan must be run again.
    """
    if metastore.current_notification_id() < event_id:
        raise _unusable("The metastore's notification log went backwards during the scan.")
    found: dict[tuple[str, str, str], Touched] = {}
    last = event_id
    while events := metastore.notifications_after(last, _PAGE):
        last = max(event.eventId for event in events)
        for item in touched_by(events):
            found.setdefault((item.db, item.table, item.partition), item)
        if last - event_id > _MAX_EVENTS:
            raise _unusable("More than 200,000 events came in during the scan.")
    return list(found.values())


def touched_by(events: Iterable[NotificationEvent]) -> Iterator[Touched]:
    """Give what each event changed; a renamed table or partition by both its names."""
    for event in events:
        if event.eventType in _READ_ONLY or not event.dbName:
            continue
        partitions, former = _named(event)
        for partition in partitions or ("",):
            yield Touched(event.dbName, event.tableName or "", partition, event.eventId)
        if former is not None:
            yield Touched(*former, "", event.eventId)


def touched_rows(items: DataFrame, touched: Iterable[Touched], spark: SparkSession) -> DataFrame:
    """Give (tbl_id, part_id, changed_at) of the due rows that changed during the scan."""
    rows = [(item.db, item.table, item.partition, item.event_id) for item in touched]
    events = F.broadcast(spark.createDataFrame(rows, _SCHEMA))
    same = (
        (F.col("db") == F.col("t_db"))
        & F.col("t_tbl").isin(F.lit(""), F.col("tbl"))
        & F.col("t_part").isin(F.lit(""), F.col("part_name"))
    )
    due = items.where(F.col("cls").isin([cls.value for cls in AFFECTED]))
    found = due.select("tbl_id", "part_id", "db", "tbl", "part_name").join(events, same)
    return found.groupBy("tbl_id", "part_id").agg(F.min("event_id").alias("changed_at"))


def postponed(items: DataFrame) -> DataFrame:
    """Make the rows with a `changed_at` NOT_NOW, by a rule that says why."""
    changed = F.col("changed_at").isNotNull()
    instead = {
        "cls": F.lit(ExpiryClass.NOT_NOW.value),
        "rule": F.lit(Rule.CHANGED.value),
        "detail": F.col("changed_at").cast("string"),
    }
    return items.withColumns(
        {name: F.when(changed, value).otherwise(F.col(name)) for name, value in instead.items()}
    ).drop("changed_at")


def _named(event: NotificationEvent) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """Give the partitions that an event is about, none is the whole table, and a former name."""
    try:
        message = json.loads(event.message or "")
        return partitions_named(message), former_name(message)
    except (RuleViolation, LookupError, TypeError, ValueError, AttributeError):
        return (), None


def _unusable(message: str) -> ExternalFailure:
    return ExternalFailure(
        "scan.events", f"{message} Run the scan again.", service="metastore", retryable=True
    )
