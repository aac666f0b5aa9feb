"""Tests the alert rules by Prometheus' own tool: each fires when it should, and only then."""

import subprocess

import pytest

from stack.places import REPO
from stack.promtool import PROMTOOL

FOLDER = REPO / "deploy" / "prometheus"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "rules", "alerts.yml"), "35 rules found"),
        (("check", "config", "--syntax-only", "prometheus.yml"), "SUCCESS"),
        (("test", "rules", "alerts_test.yml"), "SUCCESS"),
    ],
)
def test_promtool_finds_nothing_wrong(words: tuple[str, ...], said: str) -> None:
    done = subprocess.run(
        [str(PROMTOOL), *words],
        check=False,
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stdout
