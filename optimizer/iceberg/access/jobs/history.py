"""Defines the signature of the portal's commits, and finds its snapshots in main's history."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from optimizer.iceberg.access.jobs.iceberg import IcebergTable, summary_of
from optimizer.iceberg.tables.domain.events import TASK_KEY

RUN_KEY = "lakewarden.run"
LAYOUT_KEY = "lakewarden.layout"
COMMIT_KEY = "lakewarden.commit"


@dataclass(frozen=True, slots=True)
class Signature:
    """By what our commits are known: summary keys of the snapshot."""

    task: int
    run: str
    layout: str = ""

    def keys(self) -> dict[str, str]:
        """Return the summary keys."""
        return {TASK_KEY: str(self.task), RUN_KEY: self.run, LAYOUT_KEY: self.layout}


def commit_of(table: IcebergTable, commit: str) -> Any | None:
    """Find the snapshot that bears a commit's id in main's history, as far as it can be read."""
    found = (one for one in ancestors(table) if summary_of(one).get(COMMIT_KEY) == commit)
    return next(found, None)


def ancestors(table: IcebergTable) -> Iterator[Any]:
    """Yield main's snapshots from the newest back, as far as they have not expired."""
    snapshot = table.snapshot
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = table.java.snapshot(parent) if parent is not None else None
