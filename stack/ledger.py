"""What this stack has started: kept in stack.json so that anyone can end it whole.

Each process carries LAKEWARDEN_STACK in its environment, and so does all that it starts (a Spark
driver in a session of its own, for one). Ending means: the stored groups, then whatever still
carries the mark. Names of programs are never looked at.
"""

import json
import os
import threading
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stack.process import ProcessRecord, end_group, is_running, start_time

MARK = "LAKEWARDEN_STACK"


class Ledger:
    """The stack.json of one stack."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        stored = self._read()
        self.mark: str = stored.get("mark") or uuid.uuid4().hex
        self._records = {
            name: ProcessRecord(**record) for name, record in stored.get("processes", {}).items()
        }
        self._facts: dict[str, Any] = stored.get("facts", {})

    def _read(self) -> dict[str, Any]:
        try:
            data: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return data

    def _write(self) -> None:
        data = {
            "mark": self.mark,
            "facts": self._facts,
            "processes": {name: record.as_dict() for name, record in self._records.items()},
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(json.dumps(data, indent=2), encoding="utf-8")
        fresh.replace(self.path)

    def environment(self) -> dict[str, str]:
        """Return the environment that a marked process starts with."""
        return {**os.environ, MARK: self.mark}

    def add(self, record: ProcessRecord) -> None:
        """Remember a started process."""
        with self._lock:
            self._records[record.name] = record
            self._write()

    def remove(self, name: str) -> None:
        """Forget a process that has ended."""
        with self._lock:
            self._records.pop(name, None)
            self._write()

    def note(self, **facts: Any) -> None:
        """Keep facts about the stack: ports, files, addresses."""
        with self._lock:
            self._facts.update(facts)
            self._write()

    def fact(self, name: str) -> Any:
        """Return a noted fact, or None."""
        return self._facts.get(name)

    def running(self) -> list[ProcessRecord]:
        """Return the stored processes that are still there."""
        return [record for record in self._records.values() if is_running(record)]

    def end_all(self, *, spare: Iterable[int] = ()) -> int:
        """End every stored group and everything that carries the mark; returns how many groups."""
        spared = {os.getpid(), *spare}
        groups = [record.pgid for record in reversed(self._records.values()) if is_running(record)]
        for pgid in groups:
            end_group(pgid)
        n_ended = len(groups)
        for pid in self._marked():
            if pid in spared or start_time(pid) is None:
                continue
            try:
                end_group(os.getpgid(pid), grace_seconds=3)
            except ProcessLookupError:
                continue
            n_ended += 1
        with self._lock:
            self._records.clear()
            self._write()
        return n_ended

    def _marked(self) -> list[int]:
        wanted = f"{MARK}={self.mark}".encode()
        own_group = os.getpgid(0)
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                held = (entry / "environ").read_bytes().split(b"\0")
                if wanted in held and os.getpgid(int(entry.name)) != own_group:
                    found.append(int(entry.name))
            except OSError:
                continue
        return found
