"""The run that reads Trino's table of queries, in the worker and within a minute."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.trino_table.selectors import may_read
from optimizer.trino_table.services import trino_table_read
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run

KIND = "optimizer.trino_table"


class TrinoTableKind(RunKind):
    """Takes the queries that are new; a table that cannot be read is in its result, no failure."""

    name = KIND
    title = "Read Trino's table of queries"
    queue = "plan"
    attempts = 1
    schedule = Schedule(every=timedelta(minutes=1))

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted where the lake names a table, none is being read, and no failure is too near."""
        if not may_read(lake, now=now):
            return None
        if Run.objects.filter(lake=lake, kind=KIND, finished_at=None).exists():
            return None
        return {}

    def execute(self, run: Run) -> dict[str, Any]:
        """Read a turn; done again it goes on behind what was taken."""
        return asdict(trino_table_read(run.lake, now=timezone.now()))


def register_trino_table_kind() -> None:
    """Tell the platform of the run of this file."""
    register(TrinoTableKind())
