"""Migrate the database, once no process of the portal works on it."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from portal.lake.errors import StaleState
from tasks.database.changes import stops_former
from tasks.database.stopped import check_stopped


class Command(migrate.Command):
    """Django's command; it refuses what a running release could not bear (docs/deploy.md)."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, unless something is renamed or removed under a process that leads."""
        executor = MigrationExecutor(connections[options["database"]])
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        pending = [str(migration) for migration, _ in plan if stops_former(migration)]
        if pending and not options["plan"]:
            try:
                check_stopped(timezone.now())
            except StaleState as error:
                raise CommandError(
                    f"{pending[0]} takes away what the running release reads. {error.message}"
                ) from error
        super().handle(*args, **options)
