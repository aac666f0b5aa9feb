"""The portal's order to the job for one table, and the job's result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.cubes.domain.definition import Join, joins_read
from optimizer.iceberg.access.jobs.errors import LOST_TO_OTHERS
from optimizer.iceberg.rewrite.domain.layouts import Layout, parse_layout
from optimizer.indexes.domain.choice.kinds import Use
from portal.lake.errors import PortalError, RuleViolation


@dataclass(frozen=True, slots=True)
class Order:
    """One task as the request has it."""

    task: int
    db: str
    table: str
    uuid: str
    kind: TaskKind
    partitions: frozenset[str] | None
    target_bytes: int
    max_group_bytes: int
    layout: Layout
    boundaries: Mapping[str, Any] | None = None
    max_commits: int = 10
    min_files: int = 2
    write_ids: frozenset[str] = frozenset()
    removal: Mapping[str, Any] | None = None
    index_columns: tuple[str, ...] = ()
    index_uses: Mapping[str, frozenset[Use]] = field(default_factory=dict)
    """How recorded scans ask for columns, by name in lower case; others go by their type."""
    cubes: tuple[Mapping[str, Any], ...] = ()  # definitions, as docs/cubes.md has them
    joins: tuple[Join, ...] = ()  # by which the layout's columns of other tables are found

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "Order":
        """Read a task of the request.

        Raises:
            RuleViolation: `optimize.order`, or what is wrong with the layout.
        """
        try:
            partitions = row.get("partitions")
            order = cls(
                task=int(row["task"]),
                db=str(row["db"]),
                table=str(row["table"]),
                uuid=str(row["uuid"]),
                kind=TaskKind(row["kind"]),
                partitions=None if partitions is None else frozenset(map(str, partitions)),
                target_bytes=int(row["target_bytes"]),
                max_group_bytes=int(row["max_group_bytes"]),
                layout=parse_layout(row.get("layout") or ""),
                boundaries=row.get("boundaries"),
                max_commits=int(row.get("max_commits") or 10),
                min_files=int(row.get("min_files") or 2),
                write_ids=frozenset(map(str, row.get("write_ids") or ())),
                removal=row.get("removal"),
                index_columns=tuple(map(str, row.get("index_columns") or ())),
                index_uses={
                    str(column): frozenset(map(Use, uses))
                    for column, uses in (row.get("index_uses") or {}).items()
                },
                cubes=tuple(row.get("cubes") or ()),
                joins=joins_read(row.get("joins") or ()),
            )
        except (KeyError, ValueError, TypeError) as error:
            raise RuleViolation(
                "optimize.order", f"A task of the request cannot be read: {error!r}."
            ) from error
        order.check()
        return order

    def check(self) -> None:
        """Refuse an order that says nothing, and numbers that mean nothing."""
        if self.kind is TaskKind.CLUSTER and not self.layout:
            raise RuleViolation(
                "optimize.layout",
                "CLUSTER puts rows in an order, and the task names none. Give the table's policy "
                "a layout, or ask for FULL.",
            )
        if min(self.target_bytes, self.max_group_bytes, self.max_commits) < 1:
            raise RuleViolation(
                "optimize.order", "Sizes and the number of commits must be at least 1."
            )


@dataclass
class Result:
    """What has come of one task so far."""

    task: int
    table: str = ""
    commits: list[dict[str, Any]] = field(default_factory=list)
    errors: list[PortalError] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflicts: int = 0
    has_coverage: bool = False  # the spool says how far the table is indexed
    boundaries: dict[str, Any] | None = None
    cubes: list[dict[str, Any]] = field(default_factory=list)  # how far each cube is
    cube_problems: dict[str, str] = field(default_factory=dict)  # by name: why it is not built
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)

    @property
    def outcome(self) -> TaskState:
        """Done, partly, nothing to do, failed, or given up because others decided."""
        if self.commits:
            return TaskState.PARTIAL if self.errors else TaskState.DONE
        if not self.errors:
            return TaskState.NOTHING
        lost = all(error.code in LOST_TO_OTHERS for error in self.errors)
        return TaskState.ABANDONED if lost else TaskState.FAILED

    def _named(self, message: str) -> str:
        return message if self.table in message else f"{self.table}: {message}"

    def as_dict(self, *, seconds: float) -> dict[str, Any]:
        """Return the row of the manifest; the first error speaks for all."""
        first = self.errors[0] if self.errors else None
        said = [self._named(first.message)] if first else []
        if len(self.errors) > 1:
            said.append(f"{len(self.errors) - 1} more groups of files were not rewritten.")
        return {
            "task": self.task,
            "outcome": self.outcome.value,
            "code": first.code if first else "",
            "reason": " ".join([*said, *self.notes]),
            "commits": self.commits,
            "rows": sum(int(commit["rows"]) for commit in self.commits),
            "seconds": round(seconds, 3),
            "boundaries": self.boundaries,
            "conflicts": self.conflicts,
            "has_coverage": self.has_coverage,
            "cubes": self.cubes,
            "cube_problems": self.cube_problems,
            "before": self.before,
            "after": self.after,
        }
