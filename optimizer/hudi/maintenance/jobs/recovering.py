"""Recovers rows in logs that nobody reads: makes a list, then recovers exactly that list.

The list reads and writes nothing. What was approved is read again, compared by its digest, written
by one upsert with the table's own keys and ordering, and confirmed by reading it back. The blocks
stay as they are.
"""

import time

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.hudi.inspect.jobs.slices import read_files
from optimizer.hudi.inspect.jobs.snapshot import Asked, look_at
from optimizer.hudi.inspect.jobs.undone import undone_instants
from optimizer.hudi.maintenance.domain.recovery import COMES_BACK, left_out
from optimizer.hudi.maintenance.jobs.left_out import (
    KEY,
    PARTITION,
    TODAY,
    LeftOut,
    ordering_field,
    read_left_out,
)
from optimizer.hudi.maintenance.jobs.orders import Order, Result, Stop
from optimizer.hudi.maintenance.jobs.present import Present, present_of
from optimizer.hudi.maintenance.jobs.rules import check_may
from optimizer.hudi.maintenance.jobs.writing import settings_for
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.lake.errors import ExternalFailure, StaleState

_MOST_NAMED = 50
_META = "_hoodie_"


def list_left_out(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """List the rows that can be brought back; nothing is written.

    Raises:
        PortalError: it may not be done, or what cannot be known.
    """
    check_may(present, order)
    check_stop()
    found = _read(present)
    n_back = sum(found.today[one] for one in COMES_BACK)
    if not n_back:
        result.notes.append("No row is left out that the table does not hold as new or newer.")
        return
    result.found = {
        "n_rows": n_back,
        "n_read": sum(found.n_rows.values()),
        "n_logs": len({one.log_file for one in found.n_rows}),
        "bytes": sum(one.n_bytes for one in found.n_rows),
        "today": {one.value: n for one, n in found.today.items()},
        "blocks": [
            {
                "group": f"{one.group.partition}/{one.group.file_id}",
                "log_file": one.log_file,
                "instant": one.instant,
                "rows": n,
                "bytes": one.n_bytes,
            }
            for one, n in list(found.n_rows.items())[:_MOST_NAMED]
        ],
        "keys": found.sample,
        "digest": found.digest,
    }


def bring_back(present: Present, order: Order, result: Result, check_stop: Stop) -> None:
    """Write the rows of the approved list, where the table of now holds nothing newer.

    Raises:
        StaleState: `hudi.not_as_listed`, the rows or what is there today are others by now.
        ExternalFailure: `hudi.not_confirmed`, the rows do not stand in the table after the commit.
        PortalError: it may not be done, or what Hudi says.
    """
    now = present_of(present.table)
    check_may(now, order)
    found = _read(now)
    if found.digest != order.digest:
        raise StaleState(
            "hudi.not_as_listed",
            f"{order.name}: the rows that are left out, or those of their keys today, are not as "
            "listed any more. Nothing was written; list them again.",
            table=order.name,
        )
    back = found.rows.where(F.col(TODAY).isin([one.value for one in COMES_BACK]))
    check_stop()
    started = time.monotonic()
    digits = _write(now.table, order, back)
    _confirm(now.table.again(), order, back)
    result.done.append(
        {
            "instant": digits,
            "action": "deltacommit",
            "was": "",
            "seconds": round(time.monotonic() - started, 3),
            "n_items": sum(found.today[one] for one in COMES_BACK),
        }
    )


def _read(present: Present) -> LeftOut:
    table = present.table
    with clear_errors(table.name):
        look = look_at(table, Asked(), now=present.look.inspected_at)
        blocks = left_out(look, undone_instants(table))
        return read_left_out(table, blocks, read_files(table).logs)


def _write(table: OpenedTable, order: Order, rows: DataFrame) -> str:
    """Upsert the rows by one commit, and return its instant."""
    before = {one.instant for one in present_of(table).look.instants}
    zone = table.config.getTimelineTimezone()
    written = rows.select(
        [name for name in rows.columns if not name.startswith(_META) and name != TODAY]
    )
    settings = {
        **settings_for(table, order),
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.commitmeta.key.prefix": "lakewarden.",
        "lakewarden.recovered": order.digest,
    }
    with clear_errors(order.name):
        table.hudi.common.table.timeline.HoodieInstantTimeGenerator.setCommitTimeZone(zone)
        written.write.format("hudi").options(**settings).mode("append").save(table.location)
    made = {one.instant for one in present_of(table).look.instants} - before
    return max(made, default="")


def _confirm(table: OpenedTable, order: Order, rows: DataFrame) -> None:
    ordering = ordering_field(table)
    with clear_errors(order.name):
        now = table.spark.read.format("hudi").option("hoodie.metadata.enable", "false")
        held = now.load(table.location).select(KEY, PARTITION, F.col(ordering).alias("_now"))
        wanted = rows.select(KEY, PARTITION, F.col(ordering).alias("_wanted"))
        both = wanted.join(held, [KEY, PARTITION], "left")
        missing = both.where(F.col("_now").isNull() | (F.col("_now") < F.col("_wanted")))
        n_missing = missing.count()
    if n_missing:
        raise ExternalFailure(
            "hudi.not_confirmed",
            f"{order.name}: {n_missing:,} of the rows are not in the table after the commit.",
            service="spark",
            retryable=False,
            table=order.name,
        )
