"""What the account of the portal's processes can do on MariaDB, and what it cannot.

Started by test_portal_on_mariadb.py in a process of its own, with tests/support/as_app_account.py.
"""

import io
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from lifecycle.drop.services.execution import plan_execute
from lifecycle.models import DropPlan, PlanState
from portal.audit.anchors import anchor_accept, anchor_take, anchors_verify
from portal.audit.grants import rights_by_table
from portal.audit.models import AuditEvent, AuditHead
from portal.audit.services import audit_record, audit_verify
from portal.runs.domain import RunState
from portal.runs.execution.steps import run_step
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from stack.places import REPO
from tasks import anchoring, trimming
from tasks.schedule import schedule
from tasks.watchdog import watchdog
from tests.component.lifecycle.drop.test_services_at_once import HOUR, approved, world
from tests.component.lifecycle.plan_world import LAKE, NOW, PASSWORD, World
from tests.component.portal.runs.run_kinds import noting
from tests.support.app_account import HOSTS, app, owner, root, signed_in_as
from tests.support.app_account import PASSWORD as ACCOUNT_PASSWORD

__all__ = ["world"]  # a fixture
pytestmark = pytest.mark.django_db(transaction=True)
REFUSED = (
    "UPDATE audit_auditevent SET actor = 'eve'",
    "DELETE FROM audit_auditevent",
    "TRUNCATE audit_auditevent",
    "DROP TABLE audit_auditevent",
    "ALTER TABLE audit_auditevent DROP COLUMN actor",
    "RENAME TABLE audit_auditevent TO audit_gone",
    "REPLACE INTO audit_auditevent SELECT * FROM audit_auditevent",
    "INSERT INTO audit_auditevent SELECT * FROM audit_auditevent"
    " ON DUPLICATE KEY UPDATE actor = 'eve'",
    "CREATE TRIGGER t BEFORE INSERT ON audit_auditevent FOR EACH ROW SET NEW.actor = 'eve'",
    "DROP TRIGGER audit_event_no_update",
    "DROP TRIGGER audit_head_grows",
    "DELETE FROM audit_audithead",
    "TRUNCATE audit_audithead",
    "INSERT INTO audit_audithead (name, seq, hash) VALUES ('other', 0, '')",
    "UPDATE audit_audithead SET name = 'other'",
    "DELETE FROM django_migrations",
    "CREATE TABLE audit_more (id int)",
    "GRANT UPDATE ON audit_auditevent TO CURRENT_USER()",
    "SET GLOBAL general_log = 0",
)


def note(n: int = 1) -> None:
    for _ in range(n):
        audit_record("x", actor="ada", lake=LAKE, object_type="t", object_id="o", data={}, now=NOW)


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("statement", REFUSED)
def test_the_account_cannot_change_the_audit_record(statement: str) -> None:
    note(2)
    with pytest.raises(DatabaseError, match=r"denied|privilege"):
        execute(statement)
    assert audit_verify().n_events == 2
    assert audit_verify().problem == ""


def test_the_head_goes_forward_only_and_the_owner_too_only_adds() -> None:
    note(3)
    with pytest.raises(DatabaseError, match="only ever added to"):
        execute("UPDATE audit_audithead SET seq = 2")
    with signed_in_as(owner()):
        for statement in (
            "UPDATE audit_auditevent SET actor = 'eve'",
            "DELETE FROM audit_auditevent",
        ):
            with pytest.raises(DatabaseError, match="only ever added to"):
                execute(statement)
    assert audit_verify().problem == ""


def test_every_table_of_the_database_has_its_grant() -> None:
    with signed_in_as(owner()):
        there = set(connection.introspection.table_names())
    assert there == set(rights_by_table())


def test_the_check_tells_the_two_accounts_apart() -> None:
    out = io.StringIO()
    call_command("database_grants", "--check", stdout=out)
    assert "cannot change it" in out.getvalue()
    name = connection.settings_dict["NAME"]
    with root() as cursor:
        for host in HOSTS:
            cursor.execute(f"GRANT UPDATE ON `{name}`.audit_auditevent TO {app(host)}")
            cursor.execute(f"REVOKE DELETE ON `{name}`.runs_outbox FROM {app(host)}")
    try:
        with pytest.raises(CommandError) as wrong:
            call_command("database_grants", "--check")
    finally:
        with root() as cursor:
            for host in HOSTS:
                cursor.execute(f"REVOKE UPDATE ON `{name}`.audit_auditevent FROM {app(host)}")
                cursor.execute(f"GRANT DELETE ON `{name}`.runs_outbox TO {app(host)}")
    assert str(wrong.value).splitlines() == [
        f"It may UPDATE on `{name}`.`audit_auditevent`, and must not.",
        f"It may not DELETE on `{name}`.`runs_outbox`.",
    ]
    with signed_in_as(owner()), pytest.raises(CommandError, match="ALL PRIVILEGES"):
        call_command("database_grants", "--check")


def test_the_portal_works_as_this_account(world: World, settings: Any, tmp_path: Path) -> None:
    """A day of it: sign in, request, approve, run, verify, anchor, trim."""
    settings.LAKEWARDEN_AUDIT_ANCHORS = tmp_path / "anchors.jsonl"
    settings.LAKEWARDEN_AUDIT_KEY_FILE = tmp_path / "key"
    settings.LAKEWARDEN_VAR = tmp_path
    client, form = Client(), {"username": "anna", "password": PASSWORD}
    assert client.post(reverse("ui:login"), form).status_code == 302
    for page in ("ui:home", "ui:runs", "ui:approvals", "ui:audit"):
        assert client.get(reverse(page)).status_code == 200, page
    noting()
    run = run_request("test.noting", lake=LAKE, params={}, requested_by="anna", now=timezone.now())
    assert run_step(run.pk, holder="w") is RunState.DONE
    plan = approved(world)
    assert plan_execute(plan.pk, now=NOW + HOUR).state == RunState.QUEUED
    assert DropPlan.objects.get(pk=plan.pk).state == PlanState.RUNNING
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(finished_at=now - timedelta(days=99))
    for turn in (trimming.trim, trimming.trim_logs, watchdog, schedule, anchoring.anchor):
        turn(now)
    assert client.get("/readyz").json()["checks"]["database"]["ok"]
    numbers = client.get("/metrics").content.decode()
    assert "lakewarden_audit_events" in numbers
    assert "\nlakewarden_audit_anchor_age_seconds " in numbers
    assert AuditEvent.objects.filter(action="plan.approved").exists()
    out = io.StringIO()
    call_command("verify_audit", stdout=out)
    assert "whole" in out.getvalue()
    assert client.post(reverse("ui:logout")).status_code == 302


def test_a_restore_of_the_database_shows_at_its_anchors(settings: Any, tmp_path: Path) -> None:
    """An older state comes back, whole in itself: the anchors say what is missing."""
    settings.LAKEWARDEN_AUDIT_ANCHORS = tmp_path / "anchors.jsonl"
    settings.LAKEWARDEN_AUDIT_KEY_FILE = tmp_path / "key"
    note(5)
    older = AuditHead.objects.get()
    note(4)
    taken = anchor_take(now=NOW)
    assert taken is not None
    assert taken.seq == 9
    with root() as cursor:
        name = connection.settings_dict["NAME"]
        for trigger in ("audit_event_no_delete", "audit_head_grows"):
            cursor.execute(f"DROP TRIGGER `{name}`.`{trigger}`")
        cursor.execute(f"DELETE FROM `{name}`.audit_auditevent WHERE seq > 5")
        cursor.execute(
            f"UPDATE `{name}`.audit_audithead SET seq = %s, hash = %s", (older.seq, older.hash)
        )
    assert audit_verify().problem == ""
    assert "event 9, anchored at" in anchors_verify()
    assert anchors_verify().endswith("is missing")
    with pytest.raises(CommandError, match="event 9, anchored at"):
        call_command("verify_audit")
    anchor_accept("restored from Monday's backup", now=NOW)
    note()
    assert anchors_verify() == ""
    assert anchor_take(now=NOW + HOUR) is not None


def test_the_owner_makes_the_database_and_the_account_cannot(tmp_path: Path) -> None:
    said = connection.settings_dict
    name = f"{said['NAME']}_fresh"
    with root() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS `{name}`")
        cursor.execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
        try:
            for host in HOSTS:
                cursor.execute(f"GRANT ALL PRIVILEGES ON `{name}`.* TO {owner(host)}")
                cursor.execute(f"GRANT SELECT ON `{name}`.* TO {app(host)}")
            refused = migrate(name, app().name, tmp_path)
            assert refused.returncode != 0
            assert "denied" in refused.stdout + refused.stderr
            made = migrate(name, owner().name, tmp_path)
            assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
            cursor.execute(f"SELECT COUNT(*) FROM `{name}`.audit_audithead")
            assert cursor.fetchone() == (1,)
        finally:
            for host in HOSTS:
                cursor.execute(f"REVOKE SELECT ON `{name}`.* FROM {app(host)}")
                cursor.execute(f"REVOKE ALL PRIVILEGES ON `{name}`.* FROM {owner(host)}")
            cursor.execute(f"DROP DATABASE `{name}`")


def migrate(database: str, user: str, var: Path) -> "subprocess.CompletedProcess[str]":
    said = connection.settings_dict
    place = f"{said['HOST']}:{said['PORT']}/{database}"
    password = ACCOUNT_PASSWORD.replace(" ", "%20")
    return subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0"],
        check=False,
        cwd=REPO,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "portal.settings.test",
            "LAKEWARDEN_VAR": str(var),
            "LAKEWARDEN_DB_URL": f"mysql://{user}:{password}@{place}",
        },
        capture_output=True,
        text=True,
        timeout=280,
    )


def test_what_is_printed_is_what_was_run(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text(f"{ACCOUNT_PASSWORD}\n", encoding="utf-8")
    out = io.StringIO()
    words = ("--user", app().name, "--owner", owner().name, "--user-password-file", str(secret))
    call_command("database_grants", *words, stdout=out)
    assert ACCOUNT_PASSWORD not in out.getvalue()
    assert json.dumps(connection.settings_dict["NAME"])[1:-1] in out.getvalue()
    with root() as cursor:
        cursor.execute("SELECT @@socket")
        place = next(iter(cursor))[0]
    done = subprocess.run(
        ["mariadb", "--no-defaults", f"--socket={place}", "--user=root"],
        check=False,
        input=out.getvalue(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    call_command("database_grants", "--check", stdout=io.StringIO())
