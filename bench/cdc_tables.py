"""A hundred tables in one application: how long a round takes until all have their changes.

The changelog is made here, so that no source is in the way: each round changes as many rows of each
table, and the same number of rows of one table alone is the measure. The first round, which makes
the tables and warms the program up, does not count.
"""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.cdc_programs import (
    Application,
    commits,
    last_of,
    log_at,
    pipeline_order,
    table_order,
    wait,
)
from bench.cdc_spark import peaks, session
from pipelines.cdc.applying.domain.messages import TableOrder
from pipelines.cdc.capture.domain.config import Limits
from pipelines.cdc.changes.domain.positions import packed
from pipelines.cdc.changes.domain.records import Change, Header, Row
from pipelines.cdc.changes.domain.schemas import Column, TableSchema

_COLUMNS = (
    Column("id", "int(11)", is_nullable=False),
    Column("customer", "int(11)"),
    Column("price", "decimal(10,2)"),
    Column("note", "varchar(80)"),
    Column("ordered_at", "datetime"),
)


def rounds(folder: Path, n_tables: int, n_rows: int, n_rounds: int) -> dict[str, Any]:
    """Run some rounds of `n_rows` rows over `n_tables` tables."""
    spark = session()
    application = Application(spark, folder)
    schemas = [TableSchema("shop", f"t{n}", 1, 0, _COLUMNS, ("id",)) for n in range(n_tables)]
    orders = [table_order(n, one, folder / one.table) for n, one in enumerate(schemas)]
    log = folder / "log"
    log_at(log)
    seconds: list[float] = []
    with application.staying(pipeline_order(1, log, folder / "apply", orders)):
        for turn in range(n_rounds + 1):
            files = _written(folder / "made", schemas, n_rows // n_tables, turn)
            started = time.time()
            for file in files:
                (log / "batches" / file.name).hardlink_to(file)
            last = int(files[-1].stem)
            wait(partial(_all_have, application, orders, last), every=0.05)
            seconds.append(time.time() - started)
        found = {order.table: len(commits(spark, order.location)) for order in orders}
    for order in orders:
        rows = spark.read.format("hudi").load(order.location)
        if rows.count() != n_rows // n_tables or rows.where(f"customer != {n_rounds}").count():
            raise SystemExit(f"{order.table} has not what was written last.")
    counted = seconds[1:]
    return {
        "first_round_seconds": round(seconds[0], 1),
        "round_seconds": [round(one, 1) for one in counted],
        "commits_per_second": round(n_tables * n_rounds / sum(counted), 2),
        "rows_per_second": round(n_rows * n_rounds / sum(counted)),
        "commits": sum(found.values()),
        **peaks(spark),
    }


def _all_have(application: Application, orders: Sequence[TableOrder], batch: int) -> bool:
    return all(application.report(order.id).batch >= batch for order in orders)


def _written(folder: Path, schemas: list[TableSchema], n_rows: int, turn: int) -> list[Path]:
    """Write the batches of a round into a changelog that nobody reads; returns the files."""
    log, most = log_at(folder), Limits().rows
    changes = list(_changes(schemas, n_rows, turn))
    place = f"0:bin.000001:{(turn + 1) << 24}"
    files = []
    for first in range(0, len(changes), most):
        some, number = changes[first : first + most], last_of(log) + 1
        at = time.time_ns() // 1_000_000
        log.append(number, Header("bench", 1, place, place, at, len(some)), some)
        files.append(folder / "batches" / f"{number:020}.jsonl")
    return files


def _changes(schemas: list[TableSchema], n_rows: int, turn: int) -> Iterator[Change]:
    place = f"0:bin.000001:{(turn + 1) << 24}"
    for key in range(n_rows):
        for schema in schemas:
            version = packed(0, 1, (turn << 24) + key + 1, half=0)
            row: Row = {
                "id": str(key),
                "customer": str(turn),
                "price": f"{key}.{turn:02}",
                "note": f"note {key} of turn {turn}",
                "ordered_at": "2026-05-01 10:00:00",
            }
            before = {**row, "customer": str(turn - 1)} if turn else None
            key_row: Row = {"id": str(key)}
            yield Change(
                schema.db,
                schema.table,
                "u" if turn else "c",
                version,
                key_row,
                1,
                place,
                version,
                before,
                row,
            )
