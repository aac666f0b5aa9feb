"""Tables on which layouts are tried, and what of a trial is left on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from optimizer.advice.jobs import trial, trial_cleanup
from optimizer.iceberg.tables.domain.branches import is_trial, trial_branch
from portal.spark.job import JobContext
from tests.support.iceberg_lake import DAYS, IcebergLake, Interrupted, WrittenTable
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
N_FILES, ROWS = 6, 1_000
ADVICE = 7
BY_WORD = {"filters": [["word", "="]], "n_scans": 100}


def loaded(lake: IcebergLake, *, days: Sequence[str] = DAYS) -> WrittenTable:
    """Return a table in the order of its load: each file of a day holds every word."""
    by = "dt" if len(days) > 1 else ""
    table = lake.table(by=by)
    table.say("ALTER TABLE {t} SET TBLPROPERTIES ('write.distribution-mode' = 'none')")
    for n, day in enumerate(days):
        start = n * N_FILES * ROWS
        rows = lake.spark.range(start, start + N_FILES * ROWS, 1, N_FILES).selectExpr(
            "id",
            f"'{day}' dt",
            "concat('w', lpad(cast(abs(xxhash64(id)) % 500 AS string), 4, '0')) word",
        )
        rows.writeTo(table.sql).append()
    return table


def order_of(table: WrittenTable, *shapes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Return the request of a trial that makes files of the size of those that are there."""
    sizes = [row["file_size_in_bytes"] for row in table.files()]
    return {
        **{"trial": 1, "advice": ADVICE, "db": table.lake.db, "table": table.name},
        **{"uuid": table.opened.uuid, "layout": "sort(word)", "shapes": list(shapes or [BY_WORD])},
        **{"target_bytes": sum(sizes) // len(sizes), "max_group_bytes": 1 << 30},
        **{"most_bytes": 1 << 30, "most_queries": 60, "least_saved": 0.1},
        **changed,
    }


def job_of(table: WrittenTable, params: dict[str, Any]) -> Interrupted:
    """Return the job of a trial, for something to happen in its middle."""
    job = job_for(table.lake.spark, table.lake.config, params, now=NOW)
    return Interrupted(job.run, job.epoch, job.config, job.params, job.now, job.spool, job.spark)


def tried(table: WrittenTable, *shapes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Try a layout, and return what the job says."""
    job = job_of(table, order_of(table, *shapes, **changed))
    return trial.run(table.lake.spark, job)


def cleaned(table: WrittenTable, run: str) -> dict[str, Any]:
    """Clean up after a run, as the portal has it done."""
    row = {"id": 1, "db": table.lake.db, "table": table.name, "uuid": table.opened.uuid}
    params = {"trials": [{**row, "branch": trial_branch(ADVICE, run), "run": run}]}
    job: JobContext = job_for(table.lake.spark, table.lake.config, params, now=NOW)
    (found,) = trial_cleanup.run(table.lake.spark, job)["trials"]
    return dict(found)


@dataclass(frozen=True)
class Seen:
    """All that people and other programs see of a table."""

    snapshot: int
    rows: list[Any]
    files: set[str]
    history: list[int]
    refs: dict[str, int]
    metadata: set[str]
    data: set[str]

    @classmethod
    def of(cls, table: WrittenTable) -> "Seen":
        """Look at a table, and at what lies on the disk; metadata.json files are its history."""
        place = Path(table.opened.location.removeprefix("file:"))
        spark = table.lake.spark
        return cls(
            table.opened.snapshot_id,
            table.rows(),
            {row["file_path"] for row in table.files()},
            [row["snapshot_id"] for row in spark.table(f"{table.sql}.history").collect()],
            {row["name"]: row["snapshot_id"] for row in spark.table(f"{table.sql}.refs").collect()},
            {path.name for path in (place / "metadata").glob("*.avro")},
            {
                str(path.relative_to(place))
                for folder in ("data", "_lakewarden")
                for path in (place / folder).rglob("*")
                if path.is_file() and not path.name.startswith(".")
            },
        )


def trial_branches(table: WrittenTable) -> list[str]:
    """Return the branches of trials that are there now."""
    return [name for name in dict(table.opened.java.refs()) if is_trial(name)]
