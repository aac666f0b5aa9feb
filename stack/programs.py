"""Runs the repository's Python programs for the demo: their lines are shown, failures named."""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from stack.errors import StackError
from stack.places import REPO
from stack.say import END, console

_LINES_KEPT = 30


class Programs:
    """Runs programs; commands of the portal share one process, one after another.

    A program may run beside them, from a thread; it is ended where an exception leaves the block.
    Programs that stay take a line each time and end with the block.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self._log = Path(environment["LAKEWARDEN_VAR"]) / "logs" / "set-up.log"
        self._staying: dict[tuple[str, ...], subprocess.Popen[str]] = {}
        self._running: set[subprocess.Popen[str]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            for child in [*self._running, *self._staying.values()]:
                child.terminate()
        for child in self._staying.values():
            _pipe_to(child).close()
        for child in self._staying.values():
            child.wait()

    def run(self, *arguments: str) -> None:
        """Run a Python program with these arguments.

        Raises:
            StackError: it failed; the message holds its last lines.
        """
        child = self._start(arguments)
        self._running.add(child)
        last, _ = self._show(child)
        status = child.wait()
        self._running.discard(child)
        if status != 0:
            raise self._failed(arguments, last)

    def portal(self, *words: str) -> None:
        """Run a management command of the portal, in the process that ran the last one.

        Raises:
            StackError: it failed; the message holds its last lines.
        """
        self.tell(("-m", "stack.portal_shell"), json.dumps(words), named=words)

    def tell(self, program: tuple[str, ...], line: str, *, named: tuple[str, ...]) -> None:
        """Give a program that stays a line and wait until it says END; started where it is not.

        Raises:
            StackError: it failed; the message begins with `named` and holds its last lines.
        """
        child = self._staying.get(program)
        if child is None or child.poll() is not None:
            child = self._staying[program] = self._start(program)
        try:
            _pipe_to(child).write(f"{line}\n")
            _pipe_to(child).flush()
        except BrokenPipeError:
            pass  # it has ended; what it said is read below
        last, status = self._show(child)
        if not status:
            # It ended amid the command; its last words come before its end is known.
            child.wait()
        if status != "0":
            raise self._failed(named, last)

    def _start(self, arguments: tuple[str, ...]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=REPO,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _show(self, child: subprocess.Popen[str]) -> tuple[list[str], str]:
        """Keep all lines up to a command's end, show those for people.

        Returns the last lines, and the command's exit status: empty where the process ended.
        """
        assert child.stdout is not None  # noqa: S101  (asked for in _start)
        last: list[str] = []
        with self._log.open("a", encoding="utf-8") as kept:
            for line in iter(child.stdout.readline, ""):
                if line.startswith(END):
                    return last, line[len(END) :].strip()
                kept.write(line)
                last = [*last[-_LINES_KEPT:], line]
                if line.startswith("* "):
                    console.print(f"  [dim]{line[2:].rstrip()}[/]")
        return last, ""

    def _failed(self, words: tuple[str, ...], last: list[str]) -> StackError:
        return StackError(f"{' '.join(words)} failed (log {self._log}):\n{''.join(last)}")


def _pipe_to(child: subprocess.Popen[str]) -> IO[str]:
    assert child.stdin is not None  # noqa: S101  (asked for in _start)
    return child.stdin
