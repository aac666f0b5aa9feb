"""Defines what a table format does at each step of maintenance, and registers the formats.

Core has the queue, its dispatcher and the taking in of results once, for tables of every format;
a `TableMaintainer` says what is different of one. It is registered once, in the `registration` of
the format's planner, and nothing above or below core names a format to use it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.db.models import QuerySet

from optimizer.core.models import TABLE_FIELDS, OptimizeTask
from optimizer.removals.models import RemovalPlan
from portal.events.messages import LakeEvent
from portal.runs.models import Run

Result = Mapping[str, Any]
"""What a job says of one task."""


@dataclass(frozen=True, slots=True)
class Arranged:
    """Tasks that may begin now, the first first, and those that are held, each with the reason."""

    begin: Sequence[OptimizeTask]
    held: Sequence[tuple[OptimizeTask, str]]


class TableMaintainer(Protocol):
    """One table format at each step: hear, look, decide, dispatch, and take results in."""

    table_format: str
    """Its name, as in `TABLE_FIELDS` and `MaintainedTable.table_format`."""
    event_types: frozenset[str]
    """Types of metastore events that tell of its tables."""

    def hear(self, lake: str, events: Sequence[LakeEvent], *, now: datetime) -> None:
        """Write what events, in their order, mean for its tables, and queue what they ask for.

        Raises:
            ValueError, LookupError, TypeError, AttributeError: a message has another form.
        """

    def poll(
        self, lake: str, results_uri: str, *, read_at: datetime, now: datetime
    ) -> tuple[int, int]:
        """Write what a poll read that differs from the rows; returns how many changed and went."""
        ...

    def inspections_due(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Return the params of a run that looks at tables; None where no look is due."""
        ...

    def inspections_request(self, run: Run, *, now: datetime) -> dict[str, Any]:
        """Return what the job must know of the tables that it looks at."""
        ...

    def inspections_ingest(self, run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
        """Show what a run found, and decide what follows; said again it changes nothing."""

    def decide(self, lake: str, *, now: datetime) -> int:
        """Bring the open tasks of the tables in line with what they need; returns how many.

        At the tables that were looked at since their last decision, and where time alone matters.
        """
        ...

    def candidates(self, lake: str, *, now: datetime) -> QuerySet[OptimizeTask]:
        """Return of the `waiting` tasks of a lake those that a run of its tasks takes."""
        ...

    def may_begin(self, rows: QuerySet[OptimizeTask]) -> QuerySet[OptimizeTask]:
        """Keep the tasks that a run may take without a list that people approved."""
        ...

    def arrange(self, lake: str, tasks: Sequence[OptimizeTask], *, now: datetime) -> Arranged:
        """Put the tasks that may begin in order, and say why the others are held."""
        ...

    def orders(self, run: Run, tasks: QuerySet[OptimizeTask]) -> list[dict[str, Any]]:
        """Return what the job must know of the tasks that a run took, the first first."""
        ...

    def results(self, manifest: Mapping[str, Any]) -> Iterable[Result]:
        """Return what a run says of its tasks, each under its `task`."""
        ...

    def commits(self, result: Result) -> list[Any]:
        """Return what a task committed to its table."""
        ...

    def commits_words(self, commits: list[Any]) -> str:
        """Say what a task committed, where the job has no words of its own."""
        ...

    def show_list(self, task: OptimizeTask, result: Result, *, now: datetime) -> Result | None:
        """Show a list that a task drew up to people; nothing where a person cancelled it.

        Returns the result, with what came of the list; None where the task itself waits for
        people now. Inside the caller's transaction, with the task's row locked.
        """
        ...

    def ended(self, task: OptimizeTask, result: Result, *, now: datetime) -> None:
        """Follow a task that ended, inside the caller's transaction."""

    def lost(self, task: OptimizeTask, *, reason: str, now: datetime) -> bool:
        """Follow a task whose run ended without a word of it; True where it cannot go again."""
        ...

    def inspect_again(self, task: OptimizeTask, *, now: datetime) -> None:
        """Let a look at the task's table be due: a run may have changed it."""

    def allows_removal(self, lake: str) -> Callable[[RemovalPlan], bool]:
        """Return whether the policies of a lake still let go what stands on a list."""
        ...


_maintainers: dict[str, TableMaintainer] = {}


def register_maintainer(maintainer: TableMaintainer) -> None:
    """Add a format; registering one again replaces it."""
    _maintainers[maintainer.table_format] = maintainer


def maintainer_of(table_format: str) -> TableMaintainer:
    """Return what maintains the tables of a format."""
    return _maintainers[table_format]


def all_maintainers() -> list[TableMaintainer]:
    """Return what maintains tables of each format, in the order of their fields."""
    return [_maintainers[name] for name in TABLE_FIELDS if name in _maintainers]
