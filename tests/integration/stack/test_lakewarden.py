"""The command line that a newcomer meets: it names what is missing, what is in use, what runs."""

import os
import socket
import subprocess
from pathlib import Path

from stack import bootstrap
from stack.gate import read_report
from tests.support.sql import REPO


def _lakewarden(*arguments: str, var: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["./lakewarden", *arguments],
        check=False,
        cwd=REPO,
        env={**os.environ, "LAKEWARDEN_VAR": str(var), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_doctor_names_every_tool(tmp_path: Path) -> None:
    done = _lakewarden("doctor", var=tmp_path)
    for word in ("venv", "JDK", "Maven", "MariaDB", "Chromium", "Go 1.24"):
        assert word in done.stdout


def test_an_unknown_command_is_told_the_known_ones(tmp_path: Path) -> None:
    done = _lakewarden("dance", var=tmp_path)
    assert done.returncode == 2
    assert "demo [--detach]" in done.stdout


def test_a_port_in_use_is_said_plainly(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = _lakewarden("demo", var=tmp_path, PORT=port)
    assert done.returncode == 2
    assert f"Port {port} is in use" in done.stdout
    assert not (tmp_path / "stack.json").exists()


def test_stop_with_nothing_running_says_so(tmp_path: Path) -> None:
    done = _lakewarden("stop", var=tmp_path)
    assert done.returncode == 0
    assert "Nothing was running" in done.stdout


def test_a_missing_tool_is_named_with_its_command() -> None:
    lacking = bootstrap.Tool("a loom", lambda: False, "loom", bootstrap.BOTH)
    there = bootstrap.Tool("a needle", lambda: True, "needle", bootstrap.BOTH)
    before, bootstrap.TOOLS = bootstrap.TOOLS, (lacking, there)
    try:
        assert bootstrap.missing_tools(bootstrap.needs(["demo"])) == [lacking]
        assert bootstrap.doctor() == 1
    finally:
        bootstrap.TOOLS = before


def test_a_skipped_test_counts_as_failed(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite><testcase/><testcase><skipped/></testcase>"
        "<testcase><failure/></testcase></testsuite></testsuites>",
        encoding="utf-8",
    )
    assert read_report(report) == (1, 2)
    assert read_report(tmp_path / "none.xml") == (0, 0)
