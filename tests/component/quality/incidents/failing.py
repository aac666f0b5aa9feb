"""A table whose checks fail, as measurements come in."""

from datetime import UTC, datetime
from uuid import uuid4

from django.utils import timezone

from portal.access.models import User
from portal.runs.models import Run
from quality.checks.domain.messages import Measured, WindowValues
from quality.checks.services.results import results_take
from quality.incidents.services.acting import Act
from quality.models import CheckSet, Incident
from tests.component.quality.checks.checked import values, wrote

DAY, NEXT = "2026-11-21", "2026-11-22"
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)


def measured(
    row: CheckSet,
    at: datetime,
    *windows: tuple[str, float, float | None],
    reason: str = "",
) -> None:
    """Take in a run that measured windows: name, number of rows, number of NULLs."""
    found = tuple(
        WindowValues(name, int(n_rows), values(int(n_rows), n_null, reason=reason))
        for name, n_rows, n_null in windows
    )
    run = new_run(row, at)
    wrote(run, Measured(row.pk, "done", at, found))
    assert results_take(run) == 1


def new_run(row: CheckSet, at: datetime) -> Run:
    """Return a run of the table that has ended."""
    return Run.objects.create(
        id=uuid4(),
        lake="main",
        kind="quality.check",
        params={"sets": [row.pk], "windows": []},
        requested_by="schedule",
        queued_at=at,
        finished_at=at,
    )


def act(user: User, row: Incident, now: datetime | None = None) -> Act:
    """Return an act of a person who has just read the incident."""
    row.refresh_from_db()
    return Act(user, row.version, now or timezone.now())
