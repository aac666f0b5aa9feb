"""Removals from one real table: what the runs that create and act say, and what is on the disk."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

from optimizer.iceberg.execution.jobs import optimize
from optimizer.iceberg.maintenance.domain.quarantine import QUARANTINE, QuarantinePlace
from optimizer.removals.domain.papers import FENCE, SEALED
from portal.lake.paths import LakePath
from portal.safety.fence import LEASE_LENGTH, open_fence, write_lease
from portal.spark.job import JobContext
from tests.support.iceberg_lake import IcebergLake, Interrupted, WrittenTable
from tests.support.scan_spark import job_for

DAY = 24 * 3600
TEN_DAYS_ON = datetime.now(UTC) + timedelta(days=10)


@dataclass
class Removals:
    """One table, and the runs that create and act."""

    lake: IcebergLake
    table: WrittenTable
    kind: str = "EXPIRE"
    keep: int = 1
    now: datetime = TEN_DAYS_ON

    def _run(
        self,
        approved: dict[str, str] | None,
        *,
        stop_after: int = 0,
        meanwhile: Callable[[JobContext], object] | None = None,
        lease: timedelta = LEASE_LENGTH,
        **changed: Any,
    ) -> dict[str, Any]:
        asked = {
            **{"expire_days": 7, "keep_snapshots": self.keep, "orphan_days": 3},
            **{"quarantine_days": 7, "quarantine": ""},
            **changed,
        }
        if approved is not None:
            asked["quarantine"] = str(self.aside)
        order = self.lake.task(self.table, kind=self.kind, removal={**asked, "approved": approved})
        made = job_for(self.lake.spark, self.lake.config, {"tasks": [order]}, now=self.now)
        if approved is not None:
            self.launched(made, lease=lease)
        job = Interrupted(
            made.run, made.epoch, made.config, made.params, made.now, made.spool, made.spark
        )
        # Asked once before the table, then before each batch.
        happens = meanwhile or (cancel if stop_after else None)
        if happens is not None:
            job.happen(2 + stop_after // 2, partial(happens, made))
        is_beating = approved is not None and meanwhile is None and lease == LEASE_LENGTH
        with beats(made) if is_beating else nullcontext():
            (result,) = optimize.run(self.lake.spark, job)["results"]
        return dict(result)

    @property
    def aside(self) -> LakePath:
        """Where the files of a list of this table are moved by a run."""
        at = self.lake.config.path(self.table.opened.location)
        return QuarantinePlace(at, "p").open

    def launched(self, job: JobContext, *, lease: timedelta = LEASE_LENGTH) -> None:
        """Make what the launcher makes for a run that removes: its fence, and the quarantine."""
        fence = job.spool.root.child(FENCE)
        open_fence(job.spool.fs, fence, lease_until=datetime.now(UTC) + lease)
        if self.kind == "ORPHANS":
            clear(self.aside)
            job.spool.fs.make_directories(self.aside, mode=0o700)

    def draw_up(self, **changed: Any) -> dict[str, Any]:
        """Have a list created; returns the job's word."""
        return self._run(None, **changed)

    def act(self, proposal: dict[str, Any], **changed: Any) -> dict[str, Any]:
        """Act on a list as if it had been approved."""
        approved = {"plan": "p", "uri": proposal["uri"], "digest": proposal["digest"]}
        return self._run(approved, **changed)


@contextmanager
def beats(job: JobContext) -> Iterator[None]:
    """Renew a run's lease as its supervisor does, however slow this machine is."""
    over = Event()

    def beat() -> None:
        while not over.wait(2):
            until = datetime.now(UTC) + LEASE_LENGTH
            write_lease(job.spool.fs, job.spool.root.child(FENCE), until=until)

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def cancel(job: JobContext) -> None:
    """Tell a run to stop."""
    job.spool.write_control({"cancel": True})


def abandon(job: JobContext) -> None:
    """Take a run's fence away, as settling it does."""
    spool = job.spool
    spool.fs.rename(spool.root.child(FENCE), spool.root.child(SEALED))


def clear(directory: LakePath) -> None:
    """Take away what an earlier run of the same list moved aside."""
    shutil.rmtree(directory.path, ignore_errors=True)


def on_disk(table: WrittenTable) -> dict[str, int]:
    """Return every file below the table but for those in quarantine, with its size."""
    place = Path(table.opened.location.removeprefix("file:"))
    found = (
        path
        for path in place.rglob("*")
        if path.is_file() and path.suffix != ".crc" and QUARANTINE not in path.parts
    )
    return {str(path): path.stat().st_size for path in found}


def place(table: WrittenTable) -> Path:
    return Path(table.opened.location.removeprefix("file:"))


def planted(table: WrittenTable, name: str, *names: str, days: float = 5, size: int = 10) -> Path:
    """Put files below the table that nothing names, so many days old; returns the first."""
    root, at = place(table), time.time() - days * DAY
    for path in (root / one for one in (name, *names)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
        os.utime(path, (at, at))
    return root / name


def refs_of(table: WrittenTable) -> Any:
    """Return what makes and changes branches and tags; `commit` ends it."""
    return table.opened.java.manageSnapshots()
