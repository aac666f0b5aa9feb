"""Tests that a server started again is ready when it says so itself, not by its former log."""

import sys
from pathlib import Path

from stack.ledger import Ledger
from stack.servers.portal import Worker


class SlowWorker(Worker):
    """A worker whose program says that it is ready when a file is there."""

    def command(self) -> list[str]:
        """Return a program that waits for the file."""
        words = "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1]).exists():\n"
        words += "    time.sleep(0.02)\nprint('worker ready.', flush=True)\ntime.sleep(60)"
        return [sys.executable, "-c", words, str(self.go)]

    @property
    def go(self) -> Path:
        """The file that the program waits for."""
        return self.process.log.with_name("go")


def test_a_worker_is_not_ready_because_it_was_ready_before(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "stack.json")
    worker = SlowWorker(tmp_path, ledger=ledger, settings={}, port=1)
    worker.process.log.parent.mkdir()
    worker.process.log.write_text("[config]\nworker ready.\n", encoding="utf-8")
    worker.start()
    try:
        assert not worker.is_ready()
        worker.go.touch()
        worker.wait_ready()
        assert "worker ready." in worker.process.said()
    finally:
        worker.stop()
