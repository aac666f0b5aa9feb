"""Check sets as people declare them, and results as the program that measures writes them."""

from datetime import datetime

import msgspec

from portal.access.models import User
from portal.runs.models import Run
from portal.runs.records.spools import new_spool, open_spool
from quality.checks.domain.messages import Measured, MetricValue, WindowValues
from quality.checks.services.declaring import ON_SCHEDULE, Timing, checks_set
from quality.checks.services.results import results_take
from quality.models import CheckSet

DOCUMENT = """
table: shop.notes
partition_key: dt
rules:
  - {name: enough, metric: row_count, min: 5, severity: block}
  - {name: no_nulls, metric: null_count, column: id, max: 0}
"""
WINDOW = "2026-11-21"


def declare(
    user: User,
    now: datetime,
    text: str = DOCUMENT,
    version: int | None = None,
    timing: Timing = ON_SCHEDULE,
) -> CheckSet:
    return checks_set("main", text, timing=timing, version=version, user=user, now=now)


def wrote(run: Run, measured: Measured) -> None:
    """Write the result of a table into the spool of a run, as the program does."""
    if run.spool:
        spool = open_spool(run)
    else:
        spool = new_spool(run)
        spool.create()
        run.spool = str(spool.root)
        run.save(update_fields=["spool"])
    place = spool.results.child("measured")
    spool.fs.make_directories(place, mode=0o700)
    spool.fs.replace(place.child(f"{measured.id}.json"), msgspec.json.encode(measured))


def values(n_rows: int, n_null: float | None, *, reason: str = "") -> tuple[MetricValue, ...]:
    return (
        MetricValue("row_count", n_rows),
        MetricValue("null_count(id)", n_null, reason=reason),
    )


def measure(
    row: CheckSet, run: Run, at: datetime, n_rows: int, n_null: float | None = 0, **more: str
) -> int:
    """Take in one window of a table as if it was just measured."""
    window = WindowValues(WINDOW, n_rows, values(n_rows, n_null, **more))
    wrote(run, Measured(row.pk, "done", at, (window,)))
    return results_take(run)
