"""How long after the source's commit a reader of the lake sees a change, at a steady pace.

A writer of its own process commits twenty times a second while capture and apply run. When a
commit of the source was visible is what the table's timeline says: the completion of the first
commit whose newest version is not below the transaction's last one. So nothing is asked meanwhile,
and a lag is the reader's own, with the clock of one machine.
"""

import json
import statistics
import time
from bisect import bisect_left
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.cdc_programs import (
    Application,
    Commit,
    capturing,
    commits,
    last_of,
    log_at,
    pipeline_order,
    table_order,
    wait,
)
from bench.cdc_source import Address, Changes, Shop
from bench.cdc_spark import digest, peaks, session
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from tests.support.captured import is_caught_up

_A_SECOND = 20
_SETTLE_SECONDS = 15


def lag(source: Address, folder: Path, n_rows: int, rate: int, seconds: int) -> dict[str, Any]:
    """Load a table, then write into it for some seconds; returns what the lags were."""
    spark, shop = session(), Shop(source)
    application = Application(spark, folder)
    order = table_order(1, shop.schema("sales"), folder / "sales")
    log = log_at(folder / "log")
    stamps = folder / "stamps.json"
    orders = pipeline_order(1, folder / "log", folder / "apply", [order])
    with capturing(shop.config(31, "sales"), folder / "log"), application.staying(orders):
        wait(lambda: application.report(1).n_upserted >= n_rows)
        writer = get_context("spawn").Process(
            target=write, args=(source, n_rows, rate, seconds + _SETTLE_SECONDS, stamps)
        )
        writer.start()
        writer.join()
        there = shop.position()
        wait(lambda: is_caught_up(log, there))
        number = last_of(log)
        wait(lambda: application.report(1).batch >= number)
    written = {int(stamp): at for stamp, at in json.loads(stamps.read_text()).items()}
    counted = {stamp: at for stamp, at in written.items() if stamp > _SETTLE_SECONDS * _A_SECOND}
    done = commits(spark, order.location)
    captured = captured_at(log)
    behind = [captured[stamp][1] - at for stamp, at in counted.items()]
    return {
        "rows_per_second": round(rate / _A_SECOND / _span(written)),
        "transactions": len(counted),
        "captured": _spread(behind),
        "visible": _spread([_seen(done, captured[stamp][0]) - at for stamp, at in counted.items()]),
        "commits": len(done),
        **peaks(spark),
        "digest": digest(spark, order.location),
    }


def write(source: Address, n_rows: int, rate: int, seconds: int, stamps: Path) -> None:
    """Write at a steady pace; says when each transaction was committed, by its stamp."""
    changes = Changes(Shop(source), "sales", n_rows)
    committed: dict[int, float] = {}
    begun = time.time()
    for n in range(seconds * _A_SECOND):
        time.sleep(max(0.0, begun + n / _A_SECOND - time.time()))
        changes.commit(rate // _A_SECOND)
        committed[changes.stamp] = time.time()
    stamps.write_text(json.dumps(committed), encoding="utf-8")


def captured_at(log: DirectoryLog) -> dict[int, tuple[int, float]]:
    """Return version and time of capture of each stamp: those of its last insert."""
    found: dict[int, tuple[int, float]] = {}
    for batch in log.read(0):
        for change in batch.changes:
            if change.op == "c" and change.after is not None:
                stamp = int(change.after["stamp"] or 0)
                found[stamp] = change.version, batch.header.at / 1000
    return found


def _seen(done: list[Commit], version: int) -> float:
    """Return when the first commit was there that has a version."""
    return done[bisect_left(done, version, key=lambda one: one.version)].at


def _span(written: dict[int, float]) -> float:
    return (max(written.values()) - min(written.values())) / max(1, len(written) - 1)


def _spread(lags: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(lags, n=100, method="inclusive")
    found = {"p50": cuts[49], "p99": cuts[98], "most": max(lags)}
    return {name: round(value, 2) for name, value in found.items()}
