"""Removals from one real table: what the runs that draw up and act say, and what is on the disk."""

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from optimizer.jobs import rewrite
from tests.support.iceberg_lake import IcebergLake, Interrupted, WrittenTable
from tests.support.scan_spark import job_for

DAY = 24 * 3600
TEN_DAYS_ON = datetime.now(UTC) + timedelta(days=10)


@dataclass
class Removals:
    """One table, and the runs that draw up and act."""

    lake: IcebergLake
    table: WrittenTable
    kind: str = "EXPIRE"
    keep: int = 1
    now: datetime = TEN_DAYS_ON

    def _run(
        self, approved: dict[str, str] | None, *, stop_after: int = 0, **changed: Any
    ) -> dict[str, Any]:
        asked = {"expire_days": 7, "keep_snapshots": self.keep, "orphan_days": 3, **changed}
        order = self.lake.task(self.table, kind=self.kind, removal={**asked, "approved": approved})
        made = job_for(self.lake.spark, self.lake.config, {"tasks": [order]}, now=self.now)
        job = Interrupted(
            made.run, made.epoch, made.config, made.params, made.now, made.spool, made.spark
        )
        # Asked once before the table, then before each batch.
        job.happen(2 + stop_after // 2, lambda: made.spool.write_control({"cancel": True}))
        if not stop_after:
            job.at = 0
        (result,) = rewrite.run(self.lake.spark, job)["results"]
        return dict(result)

    def draw_up(self, **changed: Any) -> dict[str, Any]:
        """Have a list drawn up; gives the job's word."""
        return self._run(None, **changed)

    def act(self, proposal: dict[str, Any], **changed: Any) -> dict[str, Any]:
        """Act on a list as if it had been approved."""
        approved = {"plan": "p", "uri": proposal["uri"], "digest": proposal["digest"]}
        return self._run(approved, **changed)


def on_disk(table: WrittenTable) -> dict[str, int]:
    """Give every file below the table, with its size."""
    place = Path(table.opened.location.removeprefix("file:"))
    found = (path for path in place.rglob("*") if path.is_file() and path.suffix != ".crc")
    return {str(path): path.stat().st_size for path in found}


def place(table: WrittenTable) -> Path:
    return Path(table.opened.location.removeprefix("file:"))


def planted(table: WrittenTable, name: str, *, days: float = 5, size: int = 10) -> Path:
    """Put a file below the table that nothing names, so many days old."""
    path = place(table) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    at = time.time() - days * DAY
    os.utime(path, (at, at))
    return path


def refs_of(table: WrittenTable) -> Any:
    """Give what makes and changes branches and tags; `commit` ends it."""
    return table.opened.java.manageSnapshots()
