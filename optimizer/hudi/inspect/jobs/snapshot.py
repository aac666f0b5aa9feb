"""Inspects the state of one Hudi table, and puts together everything that is found.

The timeline is read before the files. A log file of which the timeline knows nothing may have been
begun in between, so the timeline is asked once more before that is called evidence.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from optimizer.hudi.inspect.domain.facts import (
    DuplicateKey,
    FileSlice,
    HudiInspection,
    Instant,
    LogBlock,
    PendingPlan,
)
from optimizer.hudi.inspect.jobs.instants import Timeline, read_timeline, with_archived
from optimizer.hudi.inspect.jobs.keys import duplicate_keys, has_keys
from optimizer.hudi.inspect.jobs.logs import MOST_FILES, read_blocks
from optimizer.hudi.inspect.jobs.plans import read_plans
from optimizer.hudi.inspect.jobs.slices import Files, earlier_bases, read_files, uncompacted
from optimizer.hudi.tables.jobs.errors import clear_errors, error_text
from optimizer.hudi.tables.jobs.table import OpenedTable
from portal.spark.java_errors import JAVA_ERRORS


@dataclass(frozen=True, slots=True)
class Asked:
    """How closely to look: log files cost a few small reads each, keys a read of all rows."""

    read_logs: bool = True
    read_keys: bool = False


def look_at(table: OpenedTable, asked: Asked, *, now: datetime) -> HudiInspection:
    """Look at a table; of one whose timeline is of Hudi 0.x only its settings are told.

    What cannot be read stands in the `faults` of its settings, and the rest is told nevertheless.

    Raises:
        ExternalFailure: `hudi.failed`, not even the timeline can be listed.
    """
    if not table.is_supported:
        return HudiInspection(inspected_at=now, table=table.facts())
    with clear_errors(table.name):
        return _look(table, asked, now)


def _look(table: OpenedTable, asked: Asked, now: datetime) -> HudiInspection:
    timeline = read_timeline(table)
    faults: list[str] = []
    files = _files(table, faults)
    timeline = _told_of(table, timeline, files)
    plans = read_plans(table, timeline, files.sizes(), faults)
    blocks = _blocks(table, files, timeline, faults) if asked.read_logs else None
    keys = _keys(table, faults) if asked.read_keys else None
    slices = _slices(table, files, faults)
    return HudiInspection(
        inspected_at=now,
        table=table.facts(dict.fromkeys((*timeline.faults, *faults))),
        instants=_counted(timeline.instants, plans),
        archived_to=timeline.archived_to,
        plans=plans,
        slices=slices,
        uncompacted=uncompacted(files, timeline.completed()),
        blocks=blocks or (),
        has_read_logs=blocks is not None and len(files.logs) <= MOST_FILES,
        duplicates=keys or (),
        has_read_keys=keys is not None,
    )


def _files(table: OpenedTable, faults: list[str]) -> Files:
    try:
        return read_files(table)
    except JAVA_ERRORS as error:
        faults.append(f"Its files cannot be told apart ({error_text(error)})")
        return Files()


def _told_of(table: OpenedTable, timeline: Timeline, files: Files) -> Timeline:
    """Return the timeline with all that it tells of the instants of the log files."""
    wanted = {one.instant for one in files.logs}
    told = with_archived(table, timeline, wanted)
    if wanted <= {one.instant for one in told.instants}:
        return told
    again = table.again()
    return with_archived(again, read_timeline(again), wanted)


def _blocks(
    table: OpenedTable, files: Files, timeline: Timeline, faults: list[str]
) -> tuple[LogBlock, ...] | None:
    try:
        return read_blocks(table, files.logs, timeline)
    except JAVA_ERRORS as error:
        faults.append(f"Its log files cannot be read ({error_text(error)})")
        return None


def _keys(table: OpenedTable, faults: list[str]) -> tuple[DuplicateKey, ...] | None:
    if not has_keys(table):
        return None
    try:
        return duplicate_keys(table)
    except JAVA_ERRORS as error:
        faults.append(f"Its rows cannot be read ({error_text(error)})")
        return None


def _slices(table: OpenedTable, files: Files, faults: list[str]) -> tuple[FileSlice, ...]:
    """Return the latest slices; of those without any base file, whether there was one."""
    doubtful = [one for one in files.slices if one.is_log_only and not one.has_earlier_base]
    had = earlier_bases(table, doubtful, faults)
    return tuple(
        replace(one, has_earlier_base=True) if one.group in had else one for one in files.slices
    )


def _counted(instants: tuple[Instant, ...], plans: tuple[PendingPlan, ...]) -> tuple[Instant, ...]:
    """Return the instants, the pending ones with what their plans are made of."""
    sizes = {plan.instant: len(plan.file_groups) for plan in plans}
    return tuple(
        replace(one, n_operations=sizes[one.instant]) if one.instant in sizes else one
        for one in instants
    )
