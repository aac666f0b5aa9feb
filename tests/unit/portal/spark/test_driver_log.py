"""Tests the form of a driver's own lines: as the portal writes its log."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from portal.log_lines import readable
from portal.spark.masters.settings import DEPLOYED_VARIABLE
from portal.spark.masters.spool_access import open_spool

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
# A request without a lake stops it before it needs Spark.
DEPLOYED = """
import sys
from portal.spark import entry
entry.begin_log()
sys.exit(entry._run("lifecycle.none.jobs", sys.argv[1], beating=None))
"""


def lines(form: str, *arguments: str, program: str = PROGRAM, returns: int = 0) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "LAKEWARDEN_LOG_FORMAT": form,
            "PYTHONPATH": os.pathsep.join(sys.path),
            **({DEPLOYED_VARIABLE: "1"} if program is DEPLOYED else {}),
        },
    )
    assert done.returncode == returns, done.stdout
    return done.stdout.splitlines()


def test_a_job_writes_one_json_line_an_event_that_names_its_run() -> None:
    said, broke = (json.loads(line) for line in lines("json"))
    belongs = {"run": "r1", "attempt": "2", "lake": "main"}
    assert said.items() >= (belongs | {"message": "one\ntwo", "level": "INFO"}).items()
    assert broke.items() >= belongs.items()
    assert broke["traceback"].endswith("ZeroDivisionError: division by zero")
    assert readable(json.dumps(said)).endswith(" one\ntwo")


def test_a_job_on_a_cluster_takes_the_form_from_its_spool(tmp_path: Path) -> None:
    root = f"file:{tmp_path}/spool"
    spool = open_spool(root)
    spool.create()
    spool.write_environment({"LAKEWARDEN_LOG_FORMAT": "json"})
    (tmp_path / "spool" / "request.json").write_text("{}", encoding="utf-8")
    found = lines("", root, program=DEPLOYED, returns=1)
    (said,) = (json.loads(line) for line in found)
    assert said["message"] == "The job stopped."
    assert said["traceback"].endswith("KeyError: 'lake'")


@pytest.mark.parametrize("form", ["text", ""])
def test_a_job_writes_plain_lines_otherwise(form: str) -> None:
    found = lines(form)
    assert found[0].endswith(" one")
    assert found[1] == "two"
    assert found[-1] == "ZeroDivisionError: division by zero"
