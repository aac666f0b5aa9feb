"""Tests the form of a driver's own lines: as the portal writes its log."""

import json
import os
import subprocess
import sys

import pytest

from portal.log_lines import readable

PROGRAM = """
from portal.spark import entry, job
entry.begin_log()
entry._bind({"run": "r1", "epoch": 2, "lake": {"lake": "main"}})
assert job._say("one\\ntwo").endswith(" one\\ntwo")
try:
    1 / 0
except ZeroDivisionError:
    entry._say_traceback()
"""


def lines(form: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "LAKEWARDEN_LOG_FORMAT": form,
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
    )
    return done.stdout.splitlines()


def test_a_job_writes_one_json_line_an_event_that_names_its_run() -> None:
    said, broke = (json.loads(line) for line in lines("json"))
    belongs = {"run": "r1", "attempt": "2", "lake": "main"}
    assert said.items() >= (belongs | {"message": "one\ntwo", "level": "INFO"}).items()
    assert broke.items() >= belongs.items()
    assert broke["traceback"].endswith("ZeroDivisionError: division by zero")
    assert readable(json.dumps(said)).endswith(" one\ntwo")


@pytest.mark.parametrize("form", ["text", ""])
def test_a_job_writes_plain_lines_otherwise(form: str) -> None:
    found = lines(form)
    assert found[0].endswith(" one")
    assert found[1] == "two"
    assert found[-1] == "ZeroDivisionError: division by zero"
