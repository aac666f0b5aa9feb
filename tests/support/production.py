"""Runs commands of manage.py as a deployed site does, in a process with its settings alone."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from stack.places import REPO


def manage(
    *words: str, var: Path, settings: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run a command under the settings of production; LAKEWARDEN_* of the caller do not count."""
    key = var / "secret_key"
    if not key.exists():
        key.write_text(os.urandom(48).hex(), encoding="ascii")
    own = {k: v for k, v in os.environ.items() if not k.startswith(("LAKEWARDEN_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        check=False,
        cwd=REPO,
        env={
            **own,
            "DJANGO_SETTINGS_MODULE": "portal.settings.production",
            "LAKEWARDEN_VAR": str(var),
            "LAKEWARDEN_SECRET_KEY_FILE": str(key),
            "LAKEWARDEN_BASE_URL": "https://portal.example.com",
            **settings,
        },
        capture_output=True,
        text=True,
        timeout=110,
    )
