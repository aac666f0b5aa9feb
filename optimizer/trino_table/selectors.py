"""Says whether a lake's table of Trino's queries is read, how far, and why not."""

from dataclasses import dataclass
from datetime import datetime

from optimizer.models import TrinoQueryTable
from portal.access.lakes import get_lake
from portal.access.models import User


@dataclass(frozen=True, slots=True)
class TableStatus:
    """What is known of the table; `place` and `problem` are for who sees the whole lake."""

    place: str = ""
    n_rows: int = 0
    n_odd: int = 0
    read_at: datetime | None = None
    problem: str = ""
    failing_since: datetime | None = None
    next_at: datetime | None = None
    left_out_from: datetime | None = None
    left_out_until: datetime | None = None
    is_read: bool = True
    """Whether the lake's configuration names such a table."""


def table_status(lake: str, user: User) -> TableStatus | None:
    """Return the status of the table; None where the lake's configuration names none."""
    database = get_lake(lake).trino_queries
    if database is None:
        return None
    row = TrinoQueryTable.objects.filter(lake=lake).first() or TrinoQueryTable(lake=lake)
    place = f"{database.host}:{database.port}/{database.database}"
    return TableStatus(
        place if user.is_lake_staff_of(lake) else "",
        row.n_rows,
        row.n_odd,
        row.read_at,
        row.problem if user.is_lake_staff_of(lake) else "",
        row.failing_since,
        row.next_at,
        row.left_out_from,
        row.left_out_until,
    )


def may_read(lake: str, *, now: datetime) -> bool:
    """Whether a lake names such a table, and its last failure is long enough ago."""
    if get_lake(lake).trino_queries is None:
        return False
    return not TrinoQueryTable.objects.filter(lake=lake, next_at__gt=now).exists()
