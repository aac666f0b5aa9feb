"""Reads the Hudi tables that a resident service watches, and whether one runs now."""

from optimizer.models import HudiTable
from portal.runs.domain import RunState
from portal.runs.models import Run

RESIDENT = "hudi_resident"
MOST_WATCHED = 200
"""So many tables one service watches; those after them are looked at and served by other runs."""


def resident_tables(lake: str) -> list[int]:
    """Return the tables that a service shall stay with, the oldest first."""
    rows = HudiTable.objects.filter(lake=lake, is_deleted=False, is_continuous=True)
    return list(rows.order_by("pk").values_list("pk", flat=True)[:MOST_WATCHED])


def resident_run(lake: str) -> Run | None:
    """Return the run that stays with them now; None where none runs, or it was told to end.

    One that is only being started, which a cluster may put off for hours, is none yet.
    """
    runs = Run.objects.filter(lake=lake, kind=RESIDENT, state=RunState.RUNNING, progress_n__gt=0)
    return runs.filter(cancel_requested_by="").first()


def watched_tables(lake: str) -> list[int]:
    """Return the tables that a service watches now: no other run looks at them or serves them."""
    return resident_tables(lake) if resident_run(lake) is not None else []
