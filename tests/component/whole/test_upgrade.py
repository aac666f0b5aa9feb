"""Tests that a database of the former migrations upgrades to the squashed ones, or says why not."""

import io

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from portal.migration_history import LAST_COMMIT, history_problems
from portal.servers.release import applied_migrations

pytestmark = pytest.mark.django_db
SQUASHED = "0001_squashed"


def forget(**which: str) -> int:
    """Remove records of applied migrations; return how many there were."""
    n_forgotten, _ = MigrationRecorder(connection).migration_qs.filter(**which).delete()
    return n_forgotten


def squashed() -> set[str]:
    """Return the apps whose squashed migration is recorded."""
    rows = MigrationRecorder(connection).migration_qs.filter(name=SQUASHED)
    return set(rows.values_list("app", flat=True))


def test_a_database_of_all_former_migrations_is_only_recorded() -> None:
    before = squashed()
    assert {"lifecycle", "act", "optimizer", "refresh", "readiness", "access"} <= before
    assert forget(name=SQUASHED) == len(before)
    said = io.StringIO()
    call_command("migrate", skip_checks=False, stdout=said, no_color=True)
    assert "No migrations to apply." in said.getvalue()
    assert squashed() == before


def test_a_database_between_the_former_migrations_is_refused_with_the_way_on() -> None:
    forget(name=SQUASHED)
    assert forget(app="lifecycle", name__gte="0021") == 2
    assert forget(app="refresh", name="0016_needs_refresh") == 1
    (said,) = history_problems(applied_migrations(), "backup")
    assert said.id == "portal.E002"
    assert (
        "lifecycle lacks 0021_plain_model_names (2 of 23 missing); "
        "refresh lacks 0016_needs_refresh (1 of 16 missing)." in said.msg
    )
    assert said.hint is not None
    assert LAST_COMMIT in said.hint
    with pytest.raises(SystemCheckError, match="from which this one cannot upgrade in one step"):
        call_command("migrate", skip_checks=False, stdout=io.StringIO())
    assert squashed() == set()


@pytest.mark.parametrize("app", ["refresh", "lifecycle"])
def test_an_app_without_any_of_its_migrations_is_made_new(app: str) -> None:
    assert history_problems(applied_migrations(), "backup") == []
    assert forget(app=app) > 10
    assert history_problems(applied_migrations(), "backup") == []
