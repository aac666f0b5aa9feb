"""A warm Spark SQL shell on a stack's lake, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from stack.process import end_group
from stack.stack import Stack

REPO = Path(__file__).resolve().parents[2]


class SqlShell:
    """Runs SQL in a Spark session that stays open between calls."""

    def __init__(
        self, stack: Stack, *, formats: bool = False, lakes_file: Path | None = None
    ) -> None:
        self.log = stack.var / "logs" / "sql-shell.log"
        argv = [sys.executable, "-m", "stack.lake.shell", str(lakes_file or stack.lakes_file)]
        self.log.touch(mode=0o600)
        with self.log.open("ab") as errors:
            self._child = subprocess.Popen(
                argv + (["formats"] if formats else []),
                cwd=REPO,
                env=stack.ledger.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        self._answer()

    def run(self, *statements: str) -> list[list[Any]]:
        """Run the statements in order; returns the last one's rows, raises on an error."""
        rows: list[list[Any]] = []
        for statement in statements:
            assert self._child.stdin is not None
            self._child.stdin.write(json.dumps({"sql": statement}) + "\n")
            self._child.stdin.flush()
            answer = self._answer()
            if "error" in answer:
                raise AssertionError(f"{statement}\n{answer['error']}")
            rows = answer["rows"]
        return rows

    def close(self) -> None:
        """End the session."""
        if self._child.poll() is None:
            end_group(self._child.pid, grace_seconds=2)
        self._child.wait(timeout=10)

    def _answer(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            tail = self.log.read_text(encoding="utf-8", errors="replace")[-3000:]
            raise AssertionError(f"The SQL shell ended; its log is {self.log}:\n{tail}")
        answer: dict[str, Any] = json.loads(line)
        return answer
