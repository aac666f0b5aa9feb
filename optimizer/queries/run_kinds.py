"""The runs that write recorded queries into the lake's table, and that analyse it."""

import contextlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from optimizer.queries.domain.segments import CLOSED
from optimizer.queries.services.analysis import TOP_KIND, analysis_ingest
from optimizer.queries.services.keeping import keeps_queries
from optimizer.queries.services.spool import (
    segment_read,
    segments_close,
    segments_closed,
    segments_remove,
)
from portal.lake.errors import NotVisible, StaleState
from portal.runs.domain import RunState, Schedule
from portal.runs.kinds.registry import RunKind, register, write_cancel
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.safety.selectors import emergency_stop_wait
from portal.safety.services import tell_stop

KEEP_KIND = "optimizer.keep_queries"
EVERY = timedelta(minutes=10)
RETENTION_EVERY = timedelta(days=1)
SEGMENTS_A_RUN = 100
"""400 MiB at most; the others come with the next run."""
SEGMENTS = "segments"


class KeepQueriesKind(RunKind):
    """Appends closed segments to the lake's table, and removes days that are too old.

    It is no acting kind: a segment's rows are in the table or are not, and who asks again sees it.
    """

    name = KEEP_KIND
    title = "Keep recorded queries"
    job = "optimizer.queries.jobs.keep"
    queue = "plan"
    writes_tables = True
    yields = True
    results_pass = True
    schedule = Schedule(every=EVERY)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where closed segments wait, or days may be too old; one at a time of a lake."""
        runs = Run.objects.filter(lake=lake, kind=KEEP_KIND)
        if not keeps_queries(lake) or runs.filter(finished_at=None).exists():
            return None
        segments_close(lake, now=now)
        segments = segments_closed(lake, most=SEGMENTS_A_RUN)
        if not segments:
            # Without any that was done there may be no table yet.
            done = runs.filter(state=RunState.DONE)
            if not done.exists() or done.filter(finished_at__gt=now - RETENTION_EVERY).exists():
                return None
        return {"segments": segments, "now": now.isoformat()}

    def request(self, run: Run) -> dict[str, Any]:
        """Say for how many days queries are kept."""
        return {**run.params, "keep_days": settings.LAKEWARDEN_RECORDED_QUERY_DAYS}

    def prepare(self, run: Run) -> None:
        """Copy the segments to where the job can read them; those of an earlier run are gone."""
        spool = open_spool(run)
        folder = spool.results.child(SEGMENTS)
        spool.fs.make_directories(folder, mode=0o700)
        for name in run.params.get("segments", ()):
            if (data := segment_read(run.lake, name)) is not None:
                with contextlib.suppress(StaleState):
                    spool.fs.write_new(folder.child(f"{name}{CLOSED}"), data)

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on."""
        return emergency_stop_wait(run.lake)

    def beat(self, run: Run) -> None:
        """Tell the job to stop where a person or the emergency stop says so."""
        if not tell_stop(run):
            write_cancel(run)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Remove the segments that are in the table, and the job's copies of them."""
        if manifest.get("outcome") != "done":
            return
        names = _removed(manifest["result"])
        segments_remove(run.lake, names)
        if run.spool:
            spool = open_spool(run)
            for name in names:
                with contextlib.suppress(NotVisible):
                    spool.fs.remove_file(spool.results.child(SEGMENTS, f"{name}{CLOSED}"))


class TopShapesKind(RunKind):
    """Analyses the lake's table of recorded queries; nothing is written to the lake."""

    name = TOP_KIND
    title = "Analyse recorded queries"
    job = "optimizer.queries.jobs.top_shapes"
    queue = "plan"
    attempts = 1
    yields = True
    longest = timedelta(hours=4)
    schedule = Schedule(daily_at_hour=4)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where queries were written to the lake's table."""
        kept = Run.objects.filter(lake=lake, kind=KEEP_KIND, state=RunState.DONE)
        if not keeps_queries(lake) or not kept.exists():
            return None
        return {"now": now.isoformat()}

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Keep what was found for the pages."""
        analysis_ingest(run, manifest)


def _removed(result: Mapping[str, Any]) -> list[str]:
    return [str(one) for one in result.get("segments", ())]


def register_query_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(KeepQueriesKind())
    register(TopShapesKind())
