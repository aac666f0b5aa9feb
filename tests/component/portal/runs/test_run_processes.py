"""Finding an application of this host by its tag."""

import os
import subprocess
from pathlib import Path

from portal.runs.execution.processes import TAG_VARIABLE, find_by_tag
from tests.component.portal.runs.run_kinds import end

_TRIES = 60


def test_an_application_is_found_while_it_becomes_another_program(tmp_path: Path) -> None:
    """Its environment reads as empty then: one look missed about every eighth of these."""
    script = tmp_path / "again.sh"
    script.write_text('#!/bin/sh\nexec "$0"\n', encoding="utf-8")
    script.chmod(0o755)
    process = subprocess.Popen(
        [script], env={**os.environ, TAG_VARIABLE: "again-1"}, start_new_session=True
    )
    try:
        found = [find_by_tag("again-1") for _ in range(_TRIES)]
    finally:
        end(process.pid)
        process.wait(timeout=10)
    assert {one and one.pgid for one in found} == {process.pid}
    assert find_by_tag("again-1") is None
