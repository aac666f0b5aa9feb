"""Processes of a former release end, and nothing is taken from under those that lead."""

import io
import logging
import threading
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.migration import Migration
from django.db.migrations.operations import AddField, RemoveField, RunSQL
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import TextField
from django.utils import timezone

from portal.runs.models import Lease
from portal.servers.release import ReleaseWatch, applied_migrations, newer_migrations
from tasks import base
from tasks.celery import app
from tasks.database.changes import stops_former
from tasks.loops import Loop, Loops

LATER = "9999_later"


def migrated_by_a_newer_release() -> None:
    MigrationRecorder(connection).record_applied("runs", LATER)


@pytest.mark.django_db
def test_only_what_no_release_up_to_this_one_has_is_newer() -> None:
    assert newer_migrations(applied_migrations()) == []
    recorder = MigrationRecorder(connection)
    recorder.record_applied("an_app_that_went", LATER)
    recorder.record_unapplied("runs", "0003_application_id")
    assert newer_migrations(applied_migrations()) == []
    migrated_by_a_newer_release()
    assert newer_migrations(applied_migrations()) == [f"runs.{LATER}"]


@pytest.mark.django_db
def test_what_was_squashed_twice_is_of_a_former_release_and_not_of_a_newer_one() -> None:
    """Django squashes a squash once it names what it replaced no more; rows of that stay."""
    MigrationRecorder.Migration.objects.all().delete()
    recorder = MigrationRecorder(connection)
    for name in ("0001_initial", "0002_more", "0001_squashed_0002_more"):
        recorder.record_applied("runs", name)
    call_command("migrate", fake=True, stdout=io.StringIO(), verbosity=0)
    assert newer_migrations(applied_migrations()) == []
    migrated_by_a_newer_release()
    assert newer_migrations(applied_migrations()) == [f"runs.{LATER}"]


@pytest.mark.django_db(transaction=True)
def test_loops_end_and_say_why(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned = threading.Event()
    monkeypatch.setattr("portal.servers.release.newer_migrations", lambda _: [f"runs.{LATER}"])
    loops = Loops([Loop("sound", 0.01, lambda _: turned.set(), "a")], holder="me")
    with caplog.at_level(logging.ERROR):
        loops.start()
        loops.wait()
    assert not turned.is_set()
    assert f"is of a newer release than this process: it has runs.{LATER}." in caplog.text


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError("gone"), InterfaceError(0, "")])
def test_a_database_that_does_not_answer_ends_nobody(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(_: object) -> list[str]:
        raise error

    monkeypatch.setattr("portal.servers.release.newer_migrations", broken)
    assert not ReleaseWatch().is_former()


@pytest.mark.django_db(transaction=True)
def test_a_loop_goes_on_when_the_release_cannot_be_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turned = threading.Event()
    looks: list[str] = []

    def look_up(_: object) -> list[str]:
        looks.append("once")
        raise ModuleNotFoundError("the old release's folder is gone")

    monkeypatch.setattr("portal.servers.release.newer_migrations", look_up)
    loops = Loops([Loop("sound", 0.01, lambda _: turned.set(), "a")], holder="me")
    loops.start()
    assert turned.wait(20)
    loops.stop()
    loops.wait()
    assert looks == ["once"]


@pytest.mark.django_db
def test_a_worker_of_the_former_release_leaves_its_message_and_ends_itself_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(base, "_watch", ReleaseWatch())
    monkeypatch.setattr(app.control, "shutdown", lambda **options: told.append(options))
    migrated_by_a_newer_release()
    called_by = SimpleNamespace(request=SimpleNamespace(hostname="scan@one"))
    assert base.leaves_it(called_by)
    assert told == [{"destination": ["scan@one"]}]
    called_by.request.hostname = None
    assert base.leaves_it(called_by)
    assert len(told) == 1


@pytest.mark.django_db
def test_nothing_is_renamed_under_a_process_that_leads() -> None:
    until = timezone.now() + timedelta(minutes=1)
    lease = Lease.objects.create(name="supervise", holder="h1", until=until)
    call_command("migrate", stdout=io.StringIO(), verbosity=0)
    recorder = MigrationRecorder(connection)
    # The newest of another area, which takes nothing away.
    ((_, newest),) = MigrationLoader(connection).graph.leaf_nodes("runs")
    recorder.record_unapplied("runs", newest)
    recorder.record_unapplied("refresh", "0004_divergence_mails")
    with pytest.raises(CommandError, match=r"refresh\.0004_divergence_mails takes away .* by h1"):
        call_command("migrate", stdout=io.StringIO(), verbosity=0)
    call_command("migrate", plan=True, stdout=io.StringIO())
    lease.delete()
    call_command("migrate", fake=True, stdout=io.StringIO(), verbosity=0)
    assert ("refresh", "0004_divergence_mails") in recorder.applied_migrations()


@pytest.mark.django_db
@pytest.mark.parametrize("target", ["0003", "zero"])
def test_nothing_is_taken_back_under_a_process_that_leads(target: str) -> None:
    until = timezone.now() + timedelta(minutes=1)
    lease = Lease.objects.create(name="supervise", holder="h1", until=until)
    with pytest.raises(
        CommandError, match=r"^runs\.\d{4}_\w+ would be taken back, .* by h1"
    ) as told:
        call_command("migrate", "runs", target, fake=True, stdout=io.StringIO(), verbosity=0)
    assert "restore the backup" in str(told.value)
    call_command("migrate", "runs", target, plan=True, stdout=io.StringIO())
    call_command("migrate", "runs", stdout=io.StringIO(), verbosity=0)
    with pytest.raises(CommandError, match="Cannot find a migration matching 'nothing'"):
        call_command("migrate", "runs", "nothing")
    with pytest.raises(CommandError, match="No installed app with label 'nothing'"):
        call_command("migrate", "nothing")
    lease.delete()
    call_command("migrate", "runs", "0003", fake=True, stdout=io.StringIO(), verbosity=0)
    applied = MigrationRecorder(connection).applied_migrations()
    assert ("runs", "0004_submission") not in applied
    assert ("runs", "0003_application_id") in applied


@pytest.mark.parametrize(
    ("operation", "stops"),
    [
        (AddField("run", "note", TextField(default="")), False),
        (RemoveField("run", "reason"), True),
        (RunSQL("DROP TABLE runs_run"), True),
    ],
)
def test_what_nobody_has_judged_stops_the_former_release(operation: Any, stops: bool) -> None:
    class Later(Migration):
        operations = (operation,)

    assert stops_former(Later("later", "runs")) is stops
