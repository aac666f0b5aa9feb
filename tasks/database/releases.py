"""Brings a database that was restored to the release of the code."""

from collections.abc import Sequence

from django.core.management import call_command
from django.core.management.commands import migrate

from portal.lake.errors import RuleViolation
from portal.migration_history import history_problems
from portal.servers.release import applied_migrations, newer_migrations


def check_release(applied: Sequence[tuple[str, str]]) -> None:
    """Make sure that a backup with these migrations, in their order, can be brought to this one.

    Raises:
        RuleViolation: `database.release`, this release does not know it, or cannot upgrade it.
    """
    if newer := newer_migrations(applied):
        raise RuleViolation(
            "database.release",
            f"The backup is of a newer release than this one: it has {', '.join(newer[:5])}. "
            "Restore it with the release that it is of.",
        )
    if problems := history_problems(applied, "backup"):
        raise RuleViolation("database.release", f"{problems[0].msg} {problems[0].hint}")


def migrate_restored() -> None:
    """Apply the migrations that a restored database lacks; twice changes nothing.

    Raises:
        RuleViolation: `database.release`, as of `check_release`.
    """
    check_release(applied_migrations())
    # Django's own command: ours refuses while a process leads, and the leases that came with the
    # backup are nobody's.
    call_command(migrate.Command(), interactive=False, verbosity=0)
