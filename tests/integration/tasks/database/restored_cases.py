"""Restores what is not of this release, or not whole: run by test_drill.py."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from pytest_django import Settings

from portal.notices.models import Notice, NoticeState
from portal.runs.domain import RunState
from portal.runs.models import Lease, Outbox, Run
from portal.safety.models import EmergencyStop
from portal.settings.databases import ANSWER_LIMITS
from tasks.database.dumping import sha256_of
from tests.integration.tasks.database.drill_cases import noted, waiting_work
from tests.support.act_portal import instant

pytestmark = pytest.mark.django_db(transaction=True)

FORMER = (("refresh", "0003"), ("safety", "0001"), ("notices", "0002"), ("runs", "0002"))
SCRATCH, OTHER = "portal_try", "portal_other"
LEADS = """
insert into {database}.runs_lease (name, holder, epoch, until)
values ('supervise', 'h1', 1, now() + interval 1 day)
"""
LIMIT_SECONDS = 2
WAITERS = f"""
select 1 from information_schema.processlist
where state = 'Waiting for table metadata lock' and time > {LIMIT_SECONDS + 1}
"""


@pytest.fixture(autouse=True)
def no_lakes_file(settings: Settings, tmp_path: Path, transactional_db: None) -> Iterator[None]:
    """Leave the database as other tests need it, whatever a restore left of it."""
    settings.LAKEWARDEN_LAKES = str(tmp_path / "none.json")
    settings.LAKEWARDEN_AUDIT_ANCHORS = tmp_path / "anchors.jsonl"
    yield
    call_command("migrate", verbosity=0)


def to_former_release() -> None:
    for app, name in FORMER:
        call_command("migrate", app, name, verbosity=0)


def execute(statement: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def backed_up(copy: Path) -> Path:
    call_command("backup_portal", copy, stdout=StringIO())
    return copy


def told(copy: Path) -> list[str]:
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    names: list[str] = manifest["migrations"]
    return names


def tell_other(copy: Path, **told: object) -> None:
    file = copy / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**manifest, **told}), encoding="utf-8")


def assert_nothing_goes_on(run: Run) -> None:
    assert EmergencyStop.objects.get(lake="main").is_open
    run.refresh_from_db()
    assert (run.state, run.cancel_requested_by) == (RunState.CANCELLED, "restore_portal")
    assert Notice.objects.get().state == NoticeState.FAILED
    assert not Outbox.objects.filter(published_at=None).exists()


def test_a_backup_of_a_former_release_is_brought_to_this_one_and_stands_still(
    tmp_path: Path,
) -> None:
    queued = waiting_work()
    noted("before.backup")
    to_former_release()
    backed_up(tmp_path / "copy")
    said = StringIO()
    call_command("restore_portal", tmp_path / "copy", "--replace", stdout=said)
    assert "Restored. Emergency stop: main. Cancelled: 1 waiting runs." in said.getvalue()
    assert_nothing_goes_on(queued)
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []


def test_a_trial_brings_a_backup_of_a_former_release_to_this_one_too(tmp_path: Path) -> None:
    waiting_work()
    noted("before.backup")
    to_former_release()
    # It led at the moment of the backup, so its lease lives in the copy as well.
    Lease.objects.create(name="supervise", holder="h1", until=instant() + timedelta(hours=1))
    copy = backed_up(tmp_path / "copy")
    said = StringIO()
    call_command("restore_portal", copy, "--try-in", SCRATCH, stdout=said)
    assert "1 audit events, whole. Emergency stop: main. Cancelled: 1 waiting" in said.getvalue()
    assert execute("select state from runs_run") == [("QUEUED",)]
    assert execute("select lake from act_redbutton") == []
    assert execute(f"select state from {SCRATCH}.runs_run") == [("CANCELLED",)]
    assert execute(f"select lake from {SCRATCH}.act_redbutton where is_open") == [("main",)]
    tell_other(copy, rows={})
    with pytest.raises(CommandError, match=r"^Other numbers of rows .* It can be loaded, and"):
        call_command("restore_portal", copy, "--try-in", SCRATCH)
    Lease.objects.all().delete()


def other_rows(copy: Path) -> None:
    tell_other(copy, rows={"runs_run": 7})


def other_migrations(copy: Path) -> None:
    tell_other(copy, migrations=[one for one in told(copy) if one != "sessions.0001_initial"])


def rewrite_dump(copy: Path, change: Callable[[bytes], bytes]) -> None:
    file = copy / "portal.sql.gz"
    sql = gzip.decompress(file.read_bytes())
    changed = change(sql)
    assert changed != sql
    file.write_bytes(gzip.compress(changed, compresslevel=1))
    tell_other(copy, sha256={file.name: sha256_of(file)})


def a_changed_event(copy: Path) -> None:
    rewrite_dump(copy, lambda sql: sql.replace(b"'dora','main','t','1'", b"'eve','main','t','1'"))


def a_later_migration(copy: Path) -> None:
    more = b"INSERT INTO django_migrations VALUES (9999999,'runs','9999_later',NOW());\n"
    rewrite_dump(copy, lambda sql: sql + more)


def a_gap_in_migrations(copy: Path) -> None:
    gap = b"DELETE FROM django_migrations WHERE app = 'runs' AND name = '0001_initial';\n"
    rewrite_dump(copy, lambda sql: sql + gap)


def an_error_amid_it(copy: Path) -> None:
    table = b"CREATE TABLE `runs_run`"
    rewrite_dump(copy, lambda sql: sql.replace(table, b"SELECT nothing;\n" + table))


@pytest.mark.parametrize(
    ("damages", "problem"),
    [
        ([other_rows, a_changed_event], "Other numbers of rows .* broken: event 1 was changed"),
        ([other_migrations], "Other migrations than in the manifest"),
    ],
)
def test_a_backup_that_is_not_whole_stands_still_too(
    tmp_path: Path, damages: list[Callable[[Path], None]], problem: str
) -> None:
    queued = waiting_work()
    noted("before.backup")
    copy = backed_up(tmp_path / "copy")
    for damage in damages:
        damage(copy)
    with pytest.raises(CommandError, match=f"was loaded, but is not whole. {problem}") as told:
        call_command("restore_portal", copy, "--replace")
    assert "Emergency stop: main. Cancelled: 1 waiting runs." in str(told.value)
    assert_nothing_goes_on(queued)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (a_later_migration, "is of a newer release than this one: it has runs.9999_later"),
        (a_gap_in_migrations, "cannot upgrade in one step: runs lacks 0001_initial"),
        (an_error_amid_it, "MariaDB's client program ended with 1"),
    ],
)
def test_what_cannot_stand_still_is_not_left_in_the_database(
    tmp_path: Path, damage: Callable[[Path], None], problem: str
) -> None:
    waiting_work()
    damage(backed_up(tmp_path / "copy"))
    with pytest.raises(CommandError, match="Nothing was restored, and the database is as ") as no:
        call_command("restore_portal", tmp_path / "copy", "--try-in", SCRATCH)
    assert problem in str(no.value)
    assert execute(f"show tables in {SCRATCH}") == []


def test_a_backup_that_this_release_cannot_work_on_is_refused_before_anything_is_dropped(
    tmp_path: Path,
) -> None:
    queued = waiting_work()
    copy = backed_up(tmp_path / "copy")
    names = told(copy)
    tell_other(copy, migrations=[*names, "runs.9999_later"])
    with pytest.raises(
        CommandError, match=r"a newer release than this one: it has runs\.9999_later"
    ):
        call_command("restore_portal", copy, "--replace")
    tell_other(copy, migrations=[one for one in names if one != "runs.0001_initial"])
    with pytest.raises(CommandError, match=r"The backup is of an older version.* runs lacks 0001"):
        call_command("restore_portal", copy, "--replace")
    queued.refresh_from_db()
    assert queued.state == RunState.QUEUED


def test_a_trial_replaces_no_database_of_something_else_and_none_that_is_in_use(
    tmp_path: Path,
) -> None:
    copy = backed_up(tmp_path / "copy")
    execute(f"create database {OTHER}")
    try:
        execute(f"create table {OTHER}.dbs (name text)")
        with pytest.raises(CommandError, match="portal_other has tables that are not"):
            call_command("restore_portal", copy, "--try-in", OTHER)
        assert execute(f"show tables in {OTHER}") == [("dbs",)]
        execute(f"drop table {OTHER}.dbs")
        call_command("restore_portal", copy, "--try-in", OTHER, stdout=StringIO())
        execute(LEADS.format(database=OTHER))
        with pytest.raises(CommandError, match="supervise is led by h1"):
            call_command("restore_portal", copy, "--try-in", OTHER)
    finally:
        execute(f"drop database {OTHER}")


@contextmanager
def impatient(seconds: int) -> Iterator[None]:
    """Give connections that are opened meanwhile so short a limit."""
    options = connection.settings_dict["OPTIONS"]
    before = {name: options[name] for name in ANSWER_LIMITS}
    options.update(dict.fromkeys(ANSWER_LIMITS, seconds))
    connection.close()
    try:
        yield
    finally:
        options.update(before)
        connection.close()


@contextmanager
def runs_held() -> Iterator[None]:
    """Keep a table from being altered or dropped until somebody has waited for it for too long."""
    is_held = threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                Run.objects.exists()
                is_held.set()
                until = time.monotonic() + 60
                while execute(WAITERS) == [] and time.monotonic() < until:
                    time.sleep(0.2)
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert is_held.wait(20)
    yield
    holder.join()


def test_only_commands_wait_longer_for_a_table_than_the_setting_says(tmp_path: Path) -> None:
    copy = backed_up(tmp_path / "copy")
    with impatient(LIMIT_SECONDS):
        with runs_held(), pytest.raises(OperationalError, match="timed out"):
            execute("alter table runs_run comment 'altered'")
        connection.close()
        with runs_held():
            call_command("restore_portal", copy, "--replace", stdout=StringIO())
        with runs_held():
            call_command("migrate", "runs", "0003", verbosity=0)
        assert connection.settings_dict["OPTIONS"]["read_timeout"] == LIMIT_SECONDS
