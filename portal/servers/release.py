"""Tells a process that the database has been migrated by a newer release than its own.

Such a process stops, and systemd starts it again with the release that is installed by then. Pages
go on: most can be read, and who must act is told by the error of the database.
"""

import logging
import time

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader

LOOK_SECONDS = 30.0

_log = logging.getLogger(__name__)


def newer_migrations() -> list[str]:
    """Return the migrations that the database has and this release lacks, as `app.name`."""
    loader = MigrationLoader(connection)
    known = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known.update(migration.replaces)
    apps = {app for app, _ in known}
    found = loader.applied_migrations or {}
    return sorted(f"{app}.{name}" for app, name in set(found) - known if app in apps)


class ReleaseWatch:
    """Looks now and then whether this process is of the release that the database is of."""

    def __init__(self) -> None:
        self._looked_at = float("-inf")
        self._is_former = False

    def is_former(self) -> bool:
        """Whether the database is of a newer release; says so in the log when it is found.

        A database that does not answer says nothing: what works on it finds out by itself.
        """
        if not self._is_former and time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._is_former = self._look()
        return self._is_former

    def _look(self) -> bool:
        try:
            newer = newer_migrations()
        except (DatabaseError, InterfaceError) as error:
            _log.warning("the database was not asked for its migrations: %s", error)
            connection.close()
            return False
        if newer:
            _log.error(
                "The database is of a newer release than this process: it has %s. The process "
                "ends; start it from the folder of the new release (docs/deploy.md, Upgrade).",
                ", ".join(newer),
            )
        return bool(newer)
