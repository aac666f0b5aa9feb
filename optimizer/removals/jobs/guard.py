"""Binds the deletions of a removing run to its lease, and keeps a record of each step.

Before each step the driver looks at the lease, the control file and its own JVM. Without a lease
that was renewed a moment ago it waits, and once the lease is over it stops. A step is announced by
an intent and closed by a done file, so that a death leaves a record of what went.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from optimizer.core.jobs.stops import check_stop
from optimizer.removals.domain.papers import FENCE, done_name, intent_name
from optimizer.removals.jobs.location_overlap import OwnPlace
from portal.lake.errors import PortalError, StaleState
from portal.safety.fence import Fence
from portal.spark.job import JobContext

_AGAIN_SECONDS = 0.5
_WATCH_SECONDS = 1.0


def wall_clock() -> datetime:
    """Return the instant: leases are about now, whatever day a demo plays."""
    return datetime.now(UTC)


@dataclass
class RemovalGuard:
    """The right of one task of a removing run to delete, while the run's lease is in date.

    With `place` also while nothing else is registered in the table's place: asked before each step.
    """

    job: JobContext
    task: int
    place: OwnPlace | None = None
    _step: int = 0
    _asked_at: float = field(default=float("-inf"))

    @property
    def fence(self) -> Fence:
        """The directory in the run's spool that the launcher made."""
        spool = self.job.spool
        return Fence(spool.fs, spool.root.child(FENCE), clock=wall_clock)

    def check(self) -> None:
        """Raise unless the next deletion may happen now; a late renewal of the lease is awaited.

        Raises:
            StaleState: `act.fenced`, `run.cancelled`, `task.cancelled`.
            ExternalFailure: `spark.jvm_gone`.
        """
        self.fence.check_renewed()
        self.job.control(fresh=True)
        check_stop(self.job, self.task)
        self.job.check_jvm()
        self._asked_at = time.monotonic()

    def check_often(self) -> None:
        """Do as `check`, at most twice a second: cheap enough before every single file."""
        if time.monotonic() - self._asked_at >= _AGAIN_SECONDS:
            self.check()

    @contextmanager
    def step(self, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Surround one step of deletions with its intent and its done file.

        What the caller puts into the given dictionary is the content of the done file. An error
        leaves the intent alone; settling looks at what it names.
        """
        self._step += 1
        if self.place is not None:
            self.place.check()
        self.check()
        self._write(intent_name(self.task, self._step), about)
        told: dict[str, Any] = {}
        yield told
        self._write(done_name(self.task, self._step), told)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Cancel the Spark jobs of a step that deletes inside the JVM once it must stop.

        A stop of people is seen within a second of its file; a supervisor that is dead at the end
        of the lease.
        """
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(_WATCH_SECONDS):
            try:
                self.fence.check()
                check_stop(self.job, self.task)
            except PortalError as error:
                self.job.log(f"The running step is stopped: {error.message}")
                self.job.spark.sparkContext.cancelAllJobs()
                return

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        fence = self.fence
        at = wall_clock().isoformat()
        data = json.dumps({"task": self.task, "at": at, **content}, sort_keys=True)
        try:
            fence.fs.write_new(fence.path.child(name), data.encode("ascii"))
        except StaleState as error:
            if error.code == "fs.parent_missing":
                raise StaleState("act.fenced", "This run was taken over.") from error
            raise
