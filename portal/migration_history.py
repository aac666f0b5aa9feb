"""Checks that a database has all of the migrations that were squashed, or none.

Django passes over a squashed migration of which a database has only a part, and says nothing: the
database would keep old tables under new code (ADR 0035).
"""

from collections.abc import Collection, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LAST_COMMIT = "6619f6f2"  # the last on the main branch whose tree has the migrations one by one


def migration_history_check(
    *, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Check the databases that a command works on (`migrate`, `check --database default`)."""
    return [found for alias in databases or () for found in _problems_of(connections[alias])]


def _problems_of(connection: BaseDatabaseWrapper) -> list[CheckMessage]:
    applied = MigrationRecorder(connection).applied_migrations()
    return history_problems(applied, f"database {connection.settings_dict['NAME']}")


def history_problems(applied: Collection[tuple[str, str]], what: str) -> list[CheckMessage]:
    """Return an error if an app has some of its squashed migrations and lacks others.

    `applied` are the app and name of each migration, and `what` names where they are.
    """
    parts = []
    for app, names in sorted(_squashed().items()):
        missing = [name for name in names if (app, name) not in applied]
        if missing and len(missing) < len(names):
            parts.append(f"{app} lacks {missing[0]} ({len(missing)} of {len(names)} missing)")
    if not parts:
        return []
    message = (
        f"The {what} is of an older version, from which this one cannot upgrade in one step: "
        f"{'; '.join(parts)}."
    )
    hint = (
        "Stop web, supervisor and workers, back the database up, and run `manage.py migrate` twice:"
        f" with the code of commit {LAST_COMMIT}, which has these migrations, then with this one."
    )
    return [Error(message, hint=hint, id="portal.E002")]


def _squashed() -> dict[str, list[str]]:
    """Return the former migrations of each app, in their order."""
    names: dict[str, list[str]] = {}
    for migration in MigrationLoader(None, ignore_no_migrations=True).disk_migrations.values():
        for app, name in migration.replaces:
            names.setdefault(app, []).append(name)
    return names
