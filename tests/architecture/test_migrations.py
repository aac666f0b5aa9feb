"""Tests that every kind of operation in migrations has been judged for upgrades."""

from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader

from tasks.database.changes import LEAVES_READS_WHOLE, stops_former

STOPS = (operations.RenameField, operations.RenameModel)
OWN = {"access", "act", "approvals", "audit", "catalog", "events", "lifecycle", "notices"}
OWN |= {"optimizer", "people", "pipelines", "readiness", "refresh", "runs", "safety", "search"}


def test_every_operation_is_known_to_leave_the_former_release_its_reads_or_to_stop_it() -> None:
    on_disk = MigrationLoader(None, ignore_no_migrations=True).disk_migrations.values()
    own = [migration for migration in on_disk if migration.app_label in OWN]
    assert {migration.app_label for migration in own} >= OWN
    used = {type(operation) for migration in own for operation in migration.operations}
    judged = {*LEAVES_READS_WHOLE, *STOPS}
    assert used <= judged, "add it to LEAVES_READS_WHOLE if pages of the former release bear it"
    assert set(STOPS) <= used
    stopping = {
        f"{migration.app_label}.{migration.name}" for migration in own if stops_former(migration)
    }
    assert "refresh.0003_message" in stopping
    assert "runs.0003_application_id" not in stopping
