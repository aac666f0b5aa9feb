"""Migrate the database, once no process of the portal works on it."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.exceptions import AmbiguityError
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.migration import Migration
from django.utils import timezone

from portal.lake.errors import StaleState
from tasks.database.changes import stops_former
from tasks.database.patience import without_answer_limit
from tasks.database.stopped import check_stopped


class Command(migrate.Command):
    """Django's command; it refuses what a running release could not bear (docs/deploy.md)."""

    @without_answer_limit()
    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, unless a process leads that reads what is renamed, removed or taken back."""
        executor = MigrationExecutor(connections[options["database"]])
        problem = _problem_of(executor.migration_plan(_targets(executor.loader, options)))
        if problem and not options["plan"]:
            try:
                check_stopped(timezone.now())
            except StaleState as error:
                raise CommandError(f"{problem} {error.message}") from error
        super().handle(*args, **options)


def _problem_of(plan: Iterable[tuple[Migration, bool]]) -> str:
    """Say what processes that run now could not bear; empty where they go on."""
    for migration, is_backwards in plan:
        if is_backwards:
            return (
                f"{migration} would be taken back, and what it added with all its data, which this "
                "release reads. To go back to a former release restore the backup of before the "
                "upgrade (docs/deploy.md)."
            )
        if stops_former(migration):
            return f"{migration} takes away what the running release reads."
    return ""


def _targets(loader: MigrationLoader, options: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Return where Django's command goes to; nowhere for names that it will refuse."""
    app, name = options["app_label"], options["migration_name"]
    if not app:
        return list(loader.graph.leaf_nodes())
    if not name:
        return list(loader.graph.leaf_nodes(app))
    if name == "zero":
        return [(app, None)] if app in loader.migrated_apps else []
    try:
        key = (app, loader.get_migration_by_prefix(app, name).name)
    except (AmbiguityError, KeyError):
        return []
    if key not in loader.graph.nodes and key in loader.replacements:
        key = loader.replacements[key].replaces[-1]
    return [key]
