"""The command line as a person uses it: over HTTP, signed in with a password."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from lakewarden_cli.main import main
from lakewarden_cli.sessions import session_file
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from lifecycle.models import DropPlan, TableFinding
from portal.runs.models import Run
from tests.component.lifecycle.plan_world import NOW, TODAY, World, make_world, partitions
from tests.support.clock import start_clock

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "correct horse staple"
Cli = Callable[..., Result]


@pytest.fixture
def world(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> World:
    start_clock(monkeypatch, NOW)
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    world = make_world(tmp_path)
    world.scan(partitions(3))
    for person in world.people.values():
        person.set_password(PASSWORD)
        person.save()
    return world


@pytest.fixture
def cli(world: World, live_server: LiveServer, tmp_path: Path) -> Cli:
    runner = CliRunner()

    def call(*words: str, typed: str = "", who: str = "") -> Result:
        folder = tmp_path / f"config-{who or 'me'}"
        return runner.invoke(
            main,
            words,
            input=typed,
            env={"LAKEWARDEN_CONFIG_DIR": str(folder), "LAKEWARDEN_URL": live_server.url},
        )

    return call


def signed_in(cli: Cli, name: str) -> None:
    result = cli("login", "--user", name, "--password-stdin", typed=f"{PASSWORD}\n", who=name)
    assert result.exit_code == 0, result.output


def answer(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_session_is_kept_for_its_owner_alone(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in(cli, "anna")
    assert "anna at http" in cli("whoami", who="anna").stdout
    monkeypatch.setenv("LAKEWARDEN_CONFIG_DIR", str(tmp_path / "config-anna"))
    mode = stat.S_IMODE(session_file().stat().st_mode)
    assert mode == 0o600
    assert cli("logout", who="anna").exit_code == 0
    assert cli("whoami", who="anna").exit_code == 77
    assert cli("plans", "list", who="anna").exit_code == 77


def test_a_wrong_password_and_no_log_in_end_with_77_and_say_what_to_do(cli: Cli) -> None:
    wrong = cli("login", "--user", "anna", "--password-stdin", typed="no\n")
    assert (wrong.exit_code, "did not take the password of anna" in wrong.stderr) == (77, True)
    closed = cli("why", "sales.orders", "dt=2026-01-01")
    assert (closed.exit_code, "Run `lakewarden login`" in closed.stderr) == (77, True)


def test_why_says_when_an_item_goes_and_what_blocks_it(cli: Cli) -> None:
    signed_in(cli, "anna")
    told = cli("why", "sales.orders", "dt=2026-01-01", who="anna")
    assert told.exit_code == 0, told.output
    assert "CLEAN_NOW" in told.stdout
    assert "60 days" in told.stdout
    raw = answer(cli("--json", "why", "sales.orders", "dt=2026-01-01", who="anna"))
    assert raw["item"]["ttl"] == 60
    missing = cli("why", "sales.orders", "dt=1999-01-01", who="anna")
    assert missing.exit_code == 1
    assert missing.stderr.startswith("Error: ")
    assert cli("why", "orders", who="anna").exit_code == 2


def test_a_hold_is_placed_listed_and_released(cli: Cli) -> None:
    signed_in(cli, "anna")
    placed = cli("holds", "add", "sales.orders", "dt=2026-01-01", "--reason", "audit", who="anna")
    assert "sales.orders dt=2026-01-01 is on hold until it is released" in placed.stdout
    [hold] = answer(cli("--json", "holds", "list", who="anna"))["results"]
    assert hold["reason"] == "audit"
    assert "audit" in cli("holds", "list", "--table", "sales.orders", who="anna").stdout
    ended = cli("holds", "release", hold["id"], "--reason", "over", who="anna")
    assert "is released" in ended.stdout
    assert cli("holds", "list", who="anna").stdout == "No hold fits.\n"


def test_two_people_approve_what_they_have_read(cli: Cli, world: World) -> None:
    plan = world.plan()
    for name in ("bert", "carl"):
        signed_in(cli, name)
    key = str(plan.pk)
    assert "3 items of 1 table, 2.9 KiB" in cli("plans", "show", key, who="bert").stdout
    unread = cli("plans", "approve", key, "--yes", who="bert")
    assert (unread.exit_code, "--yes needs --digest" in unread.stderr) == (2, True)
    other = cli("plans", "approve", key, "--yes", "--digest", "0" * 64, who="bert")
    assert other.exit_code == 1
    assert cli("plans", "approve", key, typed="n\n", who="bert").exit_code == 1
    first = cli("plans", "approve", key, typed="y\n", who="bert")
    assert "PENDING, 1 of 2 approvals" in first.stdout, first.output
    digest = answer(cli("--json", "plans", "show", key, who="carl"))["digest"]
    done = cli("plans", "approve", key, "--yes", "--digest", digest, who="carl")
    assert "APPROVED, 2 of 2 approvals" in done.stdout
    assert DropPlan.objects.get(pk=plan.pk).state == "APPROVED"
    assert key in cli("plans", "list", "--state", "approved", who="carl").stdout


def test_what_the_portal_refuses_is_told_with_its_next_step(cli: Cli, world: World) -> None:
    plan = world.plan()
    signed_in(cli, "alice")
    refused = cli("plans", "approve", str(plan.pk), typed="y\n", who="alice")
    assert refused.exit_code == 1
    assert "Error: " in refused.stderr
    unknown = cli("plans", "show", "6b1f2f8e-0000-4000-8000-000000000000", who="alice")
    assert (unknown.exit_code, "Ask an admin if you should." in unknown.stderr) == (1, True)
    assert cli("plans", "show", "341b96dc", who="alice").exit_code == 2


def test_a_rejected_plan_is_over(cli: Cli, world: World) -> None:
    plan = world.plan()
    signed_in(cli, "bert")
    assert cli("plans", "reject", str(plan.pk), "--reason", "in use", who="bert").exit_code == 0
    assert DropPlan.objects.get(pk=plan.pk).state == "REJECTED"


def test_runs_are_listed_and_shown(cli: Cli, world: World) -> None:
    plan = world.plan()
    signed_in(cli, "anna")
    listed = cli("runs", "list", who="anna").stdout
    assert str(plan.plan_run_id) in listed
    assert "DONE" in cli("runs", "show", str(plan.plan_run_id), who="anna").stdout


def test_the_emergency_stop_is_pressed(cli: Cli) -> None:
    signed_in(cli, "anna")
    assert "Stopped on main" in cli("stop", who="anna").stdout
    assert answer(cli("--json", "stop", "--reason", "again", who="anna"))["is_on"] is True


def test_tables_are_kept_each_by_itself(cli: Cli) -> None:
    Run.objects.update(finished_at=NOW)
    TableFinding.objects.update(next_due_on=TODAY)
    signed_in(cli, "alice")
    kept = cli("keep", "sales.orders", "sales.nothing", "--reason", "audit", who="alice")
    assert (kept.exit_code, "Not every table is kept" in kept.stderr) == (1, True)
    assert "sales.nothing" in kept.stdout
    [hold] = answer(cli("--json", "holds", "list", who="alice"))["results"]
    assert (hold["table"], hold["kind"]) == ("orders", "EXTENSION")


def test_what_waits_is_listed_for_who_decides(cli: Cli, world: World) -> None:
    world.plan()
    for name in ("bert", "alice"):
        signed_in(cli, name)
    listed = cli("approvals", who="bert").stdout
    assert "0 of 2" in listed
    assert "bert" in listed
    assert cli("approvals", who="alice").stdout == "Nothing waits.\n"


def test_pages_are_found_by_a_part_of_their_title(cli: Cli) -> None:
    signed_in(cli, "anna")
    assert "Calendar" in cli("search", "calend", who="anna").stdout
    assert "Nothing that you may see" in cli("search", "zzzzqq", who="anna").stdout


def test_a_portal_that_is_not_there_ends_with_75(cli: Cli) -> None:
    gone = cli("--url", "http://127.0.0.1:9", "runs", "list")
    assert (gone.exit_code, "does not answer" in gone.stderr) == (75, True)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("portal.example.com", "no address of a portal"),
        ("http://portal.example.com", "unencrypted"),
        ("ftp://127.0.0.1", "no address of a portal"),
    ],
)
def test_an_address_that_is_none_or_unencrypted_is_refused(cli: Cli, url: str, says: str) -> None:
    refused = cli("--url", url, "whoami")
    assert refused.exit_code != 0
    assert says in refused.stderr


def test_a_damaged_session_file_is_named(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "config-me"
    folder.mkdir()
    (folder / "session.json").write_text("{", encoding="utf-8")
    told = cli("whoami")
    assert (told.exit_code, "session.json cannot be read" in told.stderr) == (1, True)
