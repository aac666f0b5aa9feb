"""Tests that a run which the former release started ends under this one."""

import json
import os
import subprocess
import sys
from pathlib import Path

from portal.lake.ids import LakeId
from stack.places import REPO
from tests.support.lakes import local_lake


def test_a_run_of_the_former_release_is_found_again_and_settled(tmp_path: Path) -> None:
    lakes = tmp_path / "lakes.json"
    lakes.write_text(
        json.dumps({"main": local_lake(tmp_path, LakeId("main")).as_dict()}), encoding="utf-8"
    )
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "portal.settings.development",
        "LAKEWARDEN_VAR": str(tmp_path),
        "LAKEWARDEN_LAKES": str(lakes),
        "LAKEWARDEN_DB_URL": f"sqlite://{tmp_path}/portal.sqlite3",
    }
    part = ("-m", "tests.support.upgrade")
    for words in (
        (*part, "old", str(tmp_path)),
        ("manage.py", "migrate", "--verbosity", "0"),
        (*part, "new", str(tmp_path)),
    ):
        done = subprocess.run(
            [sys.executable, *words],
            check=False,
            cwd=REPO,
            env=environment,
            capture_output=True,
            text=True,
            timeout=110,
        )
        assert done.returncode == 0, done.stderr[-4000:]
