"""What an Iceberg table must hold at each of its snapshots, kept in Python by its writers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.iceberg_lake import WrittenTable

Values = dict[str, Any]


@dataclass
class Model:
    """The rows of a table by id, for main and for one branch, and those of every snapshot.

    A column's name is never used again, so a row may keep the values of one that was dropped.
    """

    table: WrittenTable
    columns: list[str] = field(default_factory=lambda: ["id", "dt", "word"])
    rows: dict[int, Values] = field(default_factory=dict)
    branched: dict[int, Values] | None = None
    snapshots: dict[int, list[Values]] = field(default_factory=dict)

    def put(self, rows: Iterable[Values]) -> None:
        for row in rows:
            self.rows[row["id"]] = {**self.rows.get(row["id"], {}), **row}

    def remove(self, is_meant: Callable[[Values], bool]) -> None:
        self.rows = {key: row for key, row in self.rows.items() if not is_meant(row)}

    def committed(self) -> None:
        """Take the rows as those of main's snapshot that stands now."""
        self.snapshots[self.table.opened.snapshot_id] = list(self.rows.values())

    def committed_to(self, branch: str) -> None:
        """Take the branch's rows as those of its head."""
        head = self.table.opened.java.snapshot(branch)
        assert self.branched is not None
        self.snapshots[int(head.snapshotId())] = list(self.branched.values())

    def learn(self) -> None:
        """Take in rewrites: each holds what the snapshot before it held."""
        for row in self.table.snapshots():
            if row["operation"] == "replace":
                self.snapshots[row["snapshot_id"]] = self.snapshots[row["parent_id"]]

    def check(self) -> None:
        """Compare what stands now."""
        names, found = self._read()
        assert names == self.columns
        assert found == _told(self.rows.values(), names)

    def check_snapshots(self) -> None:
        """Compare every snapshot that has not expired, read by its own columns."""
        self.learn()
        for row in self.table.snapshots():
            key = row["snapshot_id"]
            names, found = self._read(snapshot_id=key)
            assert found == _told(self.snapshots[key], names), (key, row["operation"])

    def _read(self, **options: Any) -> tuple[list[str], list[Any]]:
        rows = self.table.rows(**options)
        names = list(rows[0].__fields__) if rows else self.columns
        return names, sorted((tuple(row) for row in rows), key=repr)


def _told(rows: Iterable[Values], names: Sequence[str]) -> list[Any]:
    return sorted((tuple(row.get(name) for name in names) for row in rows), key=repr)
