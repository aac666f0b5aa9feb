"""Tells a process that the database has been migrated by a newer release than its own.

Such a process stops, and systemd starts it again with the release that is installed by then. Pages
go on: most can be read, and who must act is told by the error of the database.
"""

import logging
import time
from collections.abc import Sequence

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LOOK_SECONDS = 30.0

_log = logging.getLogger(__name__)


def applied_migrations() -> list[tuple[str, str]]:
    """Return the app and name of each migration that the database has, as they were applied."""
    # Rows are numbered so, whatever the clocks of hosts said.
    rows = MigrationRecorder(connection).applied_migrations()
    return sorted(rows, key=lambda key: rows[key].pk)


def newer_migrations(applied: Sequence[tuple[str, str]]) -> list[str]:
    """Return those of the applied migrations that this release lacks, as `app.name`.

    Those were applied after the last one of their app that this release knows. Older ones were
    squashed, and the migration that replaced them need not name them any more.
    """
    migrations = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    known = set(migrations)
    for migration in migrations.values():
        known.update(migration.replaces)
    found = {key: place for place, key in enumerate(applied)}
    newest = {app: -1 for app, _ in known}
    for app, name in known & found.keys():
        newest[app] = max(newest[app], found[app, name])
    return sorted(
        f"{app}.{name}"
        for app, name in found.keys() - known
        if app in newest and found[app, name] > newest[app]
    )


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
            newer = newer_migrations(applied_migrations())
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
