"""Two releases in folders of their own, and the link to the one that runs (docs/deploy.md)."""

import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

from stack.places import REPO
from stack.process import end_group

FORMER = "2ae3af9b"
"""A commit before runs had an application's id, and before columns of refreshes were renamed.

No release has been published yet, so this one stands for the one before.
"""
_SETTINGS = """from portal.settings.development import *

INSTALLED_APPS = [*INSTALLED_APPS, "lifecycle.long_work"]
"""
_PACKAGES = ("lifecycle", "optimizer", "pipelines", "portal", "quality", "refresh", "tasks")
_FOLDERS = (*_PACKAGES, "templates", "static", "stack")
_LONG_WORK = Path(__file__).parent / "long_work"
WAIT_SECONDS = 100


def install_former(folder: Path) -> None:
    """Unpack the former release.

    Raises:
        AssertionError: this clone has not its commit; a whole clone has.
    """
    words = ("git", "-C", str(REPO), "archive", FORMER)
    packed = subprocess.run(words, check=False, capture_output=True, timeout=60)
    assert packed.returncode == 0, f"The drill needs the commit {FORMER}: {packed.stderr!r}"
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as tar:
        tar.extractall(folder, filter="data")
    _complete(folder)


def install_new(folder: Path) -> None:
    """Copy what this working tree runs."""
    folder.mkdir(parents=True)
    for name in _FOLDERS:
        skipped = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(REPO / name, folder / name, ignore=skipped)
    shutil.copy2(REPO / "manage.py", folder)
    _complete(folder)


def _complete(folder: Path) -> None:
    shutil.copytree(_LONG_WORK, folder / "lifecycle" / "long_work")
    (folder / "drill_settings.py").write_text(_SETTINGS, encoding="utf-8")


class Host:
    """A host whose processes run what the link `current` points to when they start."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.link = folder / "current"
        self._settings = settings
        self._started: dict[str, subprocess.Popen[bytes]] = {}

    def point_to(self, release: Path) -> None:
        """Let processes that start from now on run a release."""
        fresh = self.link.with_suffix(".new")
        fresh.symlink_to(release)
        fresh.replace(self.link)

    def manage(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of manage.py to its end."""
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            check=False,
            cwd=self.link,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=110,
        )

    def done(self, *words: str) -> str:
        """Run a command that must succeed, and return what it printed."""
        done = self.manage(*words)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    def start(self, name: str, *words: str) -> None:
        """Start a process in the folder that the link points to."""
        with self.log(name).open("ab") as log:
            self._started[name] = subprocess.Popen(
                [sys.executable, *words],
                cwd=self.link,
                env=self._environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start_worker(self, name: str) -> None:
        """Start a worker of all queues, and wait until it takes messages."""
        words = ("-m", "celery", "-A", "tasks.celery", "worker", "--loglevel", "INFO")
        self.start(name, *words, "--concurrency", "1", "--hostname", f"{name}@%h")
        wait(lambda: " ready." in self.said(name), f"{name} to be ready")

    def stop(self, name: str) -> None:
        """Ask a process to end as systemd does with KillMode=process: only its first process."""
        process = self._started.pop(name)
        process.terminate()
        process.wait(timeout=60)

    def has_ended(self, name: str) -> bool:
        """Say whether a process that was started has ended by itself."""
        return self._started[name].poll() is not None

    def log(self, name: str) -> Path:
        """Return the file that a process writes to."""
        return self.folder / f"{name}.log"

    def said(self, name: str) -> str:
        """Return what a process has said."""
        return self.log(name).read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """End what was started and has not been stopped."""
        for process in self._started.values():
            end_group(process.pid, grace_seconds=5)
            process.wait(timeout=20)

    def _environment(self) -> dict[str, str]:
        own = {k: v for k, v in os.environ.items() if not k.startswith(("LAKEWARDEN_", "DJANGO_"))}
        return {**own, "DJANGO_SETTINGS_MODULE": "drill_settings", **self._settings}


def wait(is_so: Callable[[], bool], what: str) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, f"waited {WAIT_SECONDS} s for {what}"
        time.sleep(0.3)
