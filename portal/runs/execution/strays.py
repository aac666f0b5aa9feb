"""Ends programs of this host whose runs went on without them.

Another host takes a run over where this one seems gone. Its driver may live on all the same, and
nobody would ask after it again: no cancel, no limit of time, and a second driver beside it.
"""

import logging
from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

from portal.lake.errors import ExternalFailure
from portal.runs.domain import RunState, run_of_tag
from portal.runs.execution.processes import tagged_programs
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.spark import launch
from portal.spark.process_table import host_identity, host_name

_log = logging.getLogger(__name__)
_HAS_PROGRAM = {RunState.SUBMITTING, RunState.RUNNING}


def strays_end(seen: Collection[str], *, now: datetime) -> frozenset[str]:
    """Kill every program of this host that belongs to no attempt under way; twice is safe.

    `seen` are the tags that the last look gave; this one's are returned. What was not among them is
    let be until the next look: it may be about to end. One of a run that this portal does not have,
    or of a later attempt than it knows, is left alone: another portal has it, or the database was
    set back. One that cannot be killed keeps none of the others alive.
    """
    # The processes first: a row that is read afterwards is as new as they are.
    programs = tagged_programs()
    attempts = {tag: attempt for tag in programs if (attempt := run_of_tag(tag))}
    runs = Run.objects.in_bulk({run_id for run_id, _ in attempts.values()})
    strays = {tag: attempt for tag, attempt in attempts.items() if _is_stray(attempt, runs)}
    for tag, (run_id, epoch) in strays.items():
        if tag not in seen:
            continue
        try:
            launch.kill(programs[tag])
        except ExternalFailure as error:
            _log.warning("run %s went on without attempt %s: %s", run_id, epoch, error.message)
            continue
        words = f"A driver of attempt {epoch} was still alive on {host_name(host_identity())}"
        run_log(runs[run_id], f"{words}; it was killed.", now=now, level="warning")
    return frozenset(strays)


def _is_stray(attempt: tuple[UUID, int], runs: Mapping[UUID, Run]) -> bool:
    run_id, epoch = attempt
    run = runs.get(run_id)
    if run is None or epoch > run.epoch:
        return False
    return epoch < run.epoch or run.state not in _HAS_PROGRAM
