"""Makes sure that a database can be replaced: nobody works on it, and it is of the portal."""

from datetime import datetime

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from portal.lake.errors import RuleViolation, StaleState
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


def check_scratch(now: datetime) -> None:
    """Refuse a database for a trial that is neither empty nor left over from the portal.

    Raises:
        RuleViolation: `database.copy`, it has tables of something else.
        StaleState: `database.in_use`, another portal works on it.
    """
    tables = connection.introspection.table_names()
    if tables and MigrationRecorder.Migration._meta.db_table not in tables:
        raise RuleViolation(
            "database.copy",
            f"{connection.settings_dict['NAME']} has tables that are not the portal's, for "
            f"instance {sorted(tables)[0]}. Name an empty database for the trial.",
        )
    check_stopped(now)
