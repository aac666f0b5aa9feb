"""Log of one run: ordered lines for people; and what the process's own log says of a run."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Max

from portal.log_context import bound
from portal.runs.models import Run, RunEvent

_TRIES = 5


class Line(NamedTuple):
    """One line of a run's log."""

    level: str
    text: str
    at: datetime | None = None
    """When it was said, where that is not the moment of writing it down."""


def line_of_job(text: str) -> Line:
    """Read a line of a job's own log, which begins with its instant."""
    stamp, _, words = text.partition(" ")
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return Line("info", text)
    return Line("info", words, at) if at.tzinfo else Line("info", text)


def run_bound(run: Run) -> AbstractContextManager[None]:
    """Have every line of the process's log name this run until the block ends."""
    return bound(run=str(run.pk), attempt=str(run.epoch), kind=run.kind, lake=run.lake)


def run_log(run: Run, text: str, *, now: datetime, level: str = "info") -> None:
    """Add one line to a run's log."""
    run_log_many(run, [Line(level, text)], now=now)


def run_log_many(run: Run, lines: Sequence[Line], *, now: datetime) -> None:
    """Add lines in order; a second writer at the same moment gets the next numbers."""
    if not lines:
        return
    for attempt in range(_TRIES):
        try:
            with transaction.atomic():
                last = RunEvent.objects.filter(run=run).aggregate(n=Max("seq"))["n"] or 0
                RunEvent.objects.bulk_create(
                    RunEvent(
                        run=run, seq=last + n, at=line.at or now, level=line.level, text=line.text
                    )
                    for n, line in enumerate(lines, start=1)
                )
        except IntegrityError:
            if attempt == _TRIES - 1:
                raise
        else:
            return
