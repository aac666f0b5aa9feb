"""Runs the captures of a host: which pipelines want one, and one pipeline's in this process."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.db.models import Max
from django.utils import timezone

from pipelines.cdc.capture.engine.progress import Progress
from pipelines.cdc.capture.services.capture import capture_run
from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.control.domain.spec import SourceKind
from pipelines.cdc.control.domain.states import Desired
from pipelines.cdc.control.services.reports import problem_take, progress_take, schemas_take
from pipelines.cdc.control.services.sources import config_of, open_changelog
from pipelines.cdc.control.services.trimming import changelog_trim
from pipelines.models import Pipeline, TableRepair
from portal.lake.errors import PortalError
from portal.log_context import bound
from portal.runs.claims.leases import lease_release, lease_take
from portal.runs.models import Lease

LEASE = timedelta(seconds=30)
_log = logging.getLogger(__name__)
_TELL_SECONDS = 2.0
_SCHEMAS_SECONDS = 5.0
_TRIM_SECONDS = 600.0


def pipelines_without_capture(*, now: datetime) -> list[str]:
    """Return the names of pipelines that are to run and that no process captures now."""
    wanted = {"desired": Desired.RUNNING.value, "kind": SourceKind.MYSQL.value}
    running = Pipeline.objects.filter(**wanted).order_by("name")
    names = {row.lease_name: row.name for row in running}
    held = Lease.objects.filter(name__in=names, until__gt=now).values_list("name", flat=True)
    return [name for lease, name in names.items() if lease not in set(held)]


def pipeline_capture(name: str, *, holder: str, is_ended: Callable[[], bool]) -> None:
    """Capture one pipeline in this process until it is paused, changed, or `is_ended` says so.

    Returns at once where another process captures it. Why it cannot go on stands on the page of the
    pipeline, and the process that started this one tries again.
    """
    pipeline = Pipeline.objects.filter(name=name, desired=Desired.RUNNING.value).first()
    if pipeline is None or pipeline.is_of_topics:
        return
    session = _Session(pipeline, holder=holder, is_ended=is_ended)
    if not session.holds():
        return
    with bound(task="cdc_capture", pipeline=name, lake=pipeline.lake):
        try:
            log = open_changelog(pipeline)
            session.log = log
            capture_run(config_of(pipeline), log, session.report, session.should_stop)
            session.tell_last()
        except PortalError as error:
            _log.warning("%s: %s: %s", name, error.code, error.message)
            session.tell_last()
            problem_take(pipeline, error, now=timezone.now())
        finally:
            lease_release(pipeline.lease_name, holder=holder, now=timezone.now())


class _Session:
    """One capture's lease and reports; a database that is away does not stop it for a lease."""

    def __init__(self, pipeline: Pipeline, *, holder: str, is_ended: Callable[[], bool]) -> None:
        self.log: Changelog | None = None
        self._pipeline, self._holder, self._is_ended = pipeline, holder, is_ended
        self._asked = _asked(pipeline)
        self._last: Progress | None = None
        self._told_at = self._schemas_at = float("-inf")
        self._checked_at = self._trimmed_at = float("-inf")
        self._stop = False

    def holds(self) -> bool:
        """Take or renew the lease; False where another process has it."""
        now = timezone.now()
        name = self._pipeline.lease_name
        return lease_take(name, holder=self._holder, length=LEASE, now=now) is not None

    def should_stop(self) -> bool:
        """Whether it is to end: told so, paused, changed, or another process took over."""
        if self._is_ended():
            return True
        if time.monotonic() - self._checked_at >= _TELL_SECONDS:
            self._checked_at = time.monotonic()
            try:
                self._stop = not (self._is_wanted() and self.holds())
            except DatabaseError as error:
                _log.warning("%s: the database did not answer: %s", self._pipeline, error)
                connection.close()
        return self._stop

    def report(self, told: Progress) -> None:
        """Write what a capture tells into the database, every few seconds."""
        self._last = told
        if time.monotonic() - self._told_at >= _TELL_SECONDS:
            self._told_at = time.monotonic()
            is_due = time.monotonic() - self._schemas_at >= _SCHEMAS_SECONDS
            self._tell(told, with_schemas=is_due)

    def tell_last(self) -> None:
        """Write how far it came in the end."""
        if self._last is not None:
            self._tell(self._last, with_schemas=True)

    def _tell(self, told: Progress, *, with_schemas: bool) -> None:
        now = timezone.now()
        try:
            if self.log is not None and with_schemas:
                schemas_take(self._pipeline, self.log.schemas(), now=now)
                self._schemas_at = time.monotonic()
            progress_take(self._pipeline, told, now=now)
            if self.log is not None and time.monotonic() - self._trimmed_at >= _TRIM_SECONDS:
                changelog_trim(self._pipeline, self.log, now=now)
                self._trimmed_at = time.monotonic()
        except DatabaseError as error:
            # What it told stands in the changelog too; the next report says it again.
            _log.warning("%s: the database did not answer: %s", self._pipeline, error)
            connection.close()

    def _is_wanted(self) -> bool:
        """Whether the pipeline is as it was when this began; an edit starts another process."""
        seen = self._pipeline
        fresh = Pipeline.objects.filter(pk=seen.pk, desired=Desired.RUNNING.value)
        is_same = fresh.filter(version=seen.version, epoch=seen.epoch).exists()
        return is_same and _asked(seen) == self._asked


def _asked(pipeline: Pipeline) -> tuple[int, int]:
    """Return how many loads people asked for again, of all tables, and the last repair."""
    last = TableRepair.objects.filter(captured__pipeline=pipeline).aggregate(Max("pk"))["pk__max"]
    return sum(pipeline.tables.values_list("n_reloads", flat=True)), last or 0
