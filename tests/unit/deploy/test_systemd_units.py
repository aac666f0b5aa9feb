"""Tests the systemd units: each process has one, and a restart ends no Spark program."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import get_commands

from tasks.celery import QUEUES, app
from tests.unit.deploy.units import FOLDER, INSTALLED, ROOT, SERVICES, only, processes, unit

LAUNCHING = ("lakewarden-worker@.service", "lakewarden-supervisor.service")
HARDENED = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateDevices": "yes",
    "RestrictSUIDSGID": "yes",
    "SystemCallFilter": "@system-service",
    "UMask": "0077",
    "Restart": "always",
    "StartLimitIntervalSec": "0",
}
each = pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)


def argv(path: Path) -> list[str]:
    return shlex.split(only(path, "ExecStart").removeprefix(INSTALLED))


def test_every_process_of_the_operations_book_has_its_unit() -> None:
    commands = {name: text.replace("<queues>", "%i") for name, text in processes().items()}
    assert set(commands) == {
        *("web", "supervisor", "workers", "capture of changes", "refresh worker"),
    }
    started = [only(path, "ExecStart") for path in SERVICES]
    lacking = [name for name, text in commands.items() if not any(text in one for one in started)]
    assert lacking == []
    assert len(started) == len(commands)


@each
def test_every_unit_starts_a_program_that_is_installed(path: Path) -> None:
    program, *words = argv(path)
    assert (ROOT / ".venv" / "bin" / program).exists()
    if program == "python":
        assert words[0] == "manage.py"
        assert words[1] in get_commands()
    assert (
        (ROOT / words[words.index("-A") + 1].replace(".", "/")).with_suffix(".py").exists()
        if ("-A" in words)
        else True
    )


@pytest.mark.parametrize("name", LAUNCHING)
def test_a_restart_ends_no_spark_program(name: str) -> None:
    # Drivers lead sessions of their own (portal/spark/launch.py), but stay in the control group.
    assert only(FOLDER / name, "KillMode") == "process"
    # A private /tmp is deleted with the unit, and drivers have their files there.
    assert only(FOLDER / name, "PrivateTmp") == "no"
    assert "/tmp" in only(FOLDER / name, "ReadWritePaths").split()


def test_a_driver_without_memory_does_not_end_its_worker() -> None:
    assert only(FOLDER / LAUNCHING[0], "OOMPolicy") == "continue"


def test_a_worker_may_finish_its_message_before_it_is_killed() -> None:
    assert int(only(FOLDER / LAUNCHING[0], "TimeoutStopSec")) > app.conf.task_time_limit


@each
def test_every_unit_is_hardened_and_started_again(path: Path) -> None:
    found = unit(path)
    assert {name: found.get(name) for name in HARDENED} == {
        name: [value] for name, value in HARDENED.items()
    }
    assert only(path, "PartOf") == "lakewarden.target" == only(path, "WantedBy")


def test_the_web_process_has_no_way_to_the_lakes_passwords() -> None:
    web = FOLDER / "lakewarden-web.service"
    assert only(web, "User") == "lw-web"
    assert "lw-lake" not in only(web, "SupplementaryGroups").split()
    others = [path for path in SERVICES if path != web]
    assert all("lw-lake" in only(path, "SupplementaryGroups").split() for path in others)
    assert {only(path, "User") for path in others} == {"lw-scan", "lw-act"}


@each
def test_accounts_folders_and_settings_of_a_unit_are_made_by_the_files_beside_it(
    path: Path,
) -> None:
    accounts = (FOLDER / "lakewarden.sysusers.conf").read_text(encoding="utf-8")
    folders = (FOLDER / "lakewarden.tmpfiles.conf").read_text(encoding="utf-8")
    for name in (only(path, "User"), *only(path, "SupplementaryGroups").split()):
        assert re.search(rf"^[gu] {name} ", accounts, re.MULTILINE)
    for name in unit(path).get("ReadWritePaths", [""])[0].split():
        assert name == "/tmp" or f"d {name} 0700 {only(path, 'User')} " in folders
    for name in unit(path)["EnvironmentFile"]:
        assert (ROOT / "deploy" / "environment" / Path(name).name).exists()


@each
def test_a_stop_of_the_target_waits_for_every_unit(path: Path) -> None:
    # systemctl waits for the target alone, which stops after the units that are ordered after it.
    assert "lakewarden.target" in only(path, "After").split()


def test_no_account_has_a_description_that_systemd_refuses() -> None:
    # A colon divides the fields of /etc/passwd: such an account would not be made.
    text = (FOLDER / "lakewarden.sysusers.conf").read_text(encoding="utf-8")
    descriptions = re.findall(r'^u [\w-]+ - "([^"]+)"', text, re.MULTILINE)
    assert len(descriptions) == 3
    assert [one for one in descriptions if ":" in one] == []


def test_the_guide_starts_a_worker_of_every_queue() -> None:
    guide = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    assert set(re.findall(r"lakewarden-worker@(\w+)", guide)) == set(QUEUES)
