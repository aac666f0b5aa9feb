"""Makes sure that no process of the portal works on the database."""

from datetime import datetime

from django.db import connection

from portal.lake.errors import StaleState
from portal.runs.models import Lease


def check_stopped(now: datetime) -> None:
    """Refuse while a supervisor, capture or refresh worker leads; an empty database has none.

    Raises:
        StaleState: `database.in_use`.
    """
    if Lease._meta.db_table not in connection.introspection.table_names():
        return
    living = list(Lease.objects.filter(until__gt=now).values_list("name", "holder")[:1])
    if living:
        name, holder = living[0]
        raise StaleState(
            "database.in_use",
            f"{name} is led by {holder}. Stop web, supervisor, workers, capture and refresh worker "
            "on all hosts, wait for a minute, and try again.",
        )
