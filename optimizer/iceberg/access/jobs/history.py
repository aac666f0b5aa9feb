"""Defines the signature of the portal's commits, and finds its snapshots in a history."""

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


def commit_of(table: IcebergTable, commit: str, *, branch: str = "") -> Any | None:
    """Find the snapshot that bears a commit's id in a branch's history, as far as it can be read.

    Without a branch in main's.
    """
    line = ancestors(table, branch=branch)
    return next((one for one in line if summary_of(one).get(COMMIT_KEY) == commit), None)


def ancestors(table: IcebergTable, *, branch: str = "") -> Iterator[Any]:
    """Yield the snapshots of main, or of a branch, from the newest back until they expired."""
    snapshot = table.java.snapshot(branch) if branch else table.snapshot
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = table.java.snapshot(parent) if parent is not None else None
