"""Reads a Hudi table's present settings and timeline, by which the rules judge an act.

Asked afresh before every act: between the look, the order and the act somebody else may have been
there. No file of data is listed for it, but where a rule asks for them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from optimizer.hudi.inspect.domain.facts import Action, HudiInspection, Instant
from optimizer.hudi.inspect.domain.timeline import pending
from optimizer.hudi.inspect.jobs.instants import read_timeline
from optimizer.hudi.inspect.jobs.plans import read_plans
from optimizer.hudi.inspect.jobs.slices import read_files
from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable


@dataclass(frozen=True)
class Present:
    """A table opened for one act, and its settings, instants and plans at that time."""

    table: OpenedTable
    look: HudiInspection

    def instant(self, digits: str) -> Instant | None:
        """Return a pending instant, None where it is not pending (any more)."""
        found = (one for one in self.look.instants if one.is_pending and one.instant == digits)
        return next(found, None)

    def pending(self, actions: Iterable[Action]) -> tuple[str, ...]:
        """Return the pending instants of some actions, oldest first."""
        return tuple(one.instant for one in pending(self.look, actions))


def present_of(table: OpenedTable, *, closely: bool = False) -> Present:
    """Read it; `closely` also whether the metadata of the newest commits can be read.

    Raises:
        RuleViolation: `hudi.old_version`.
        PortalError: it cannot be opened any more.
    """
    again = table.again()
    again.check_supported()
    with clear_errors(table.name):
        timeline = read_timeline(again, with_metadata=closely)
        faults: list[str] = []
        plans = read_plans(again, timeline, {}, faults)
        look = HudiInspection(
            inspected_at=datetime.now(UTC),
            table=again.facts((*timeline.faults, *faults)),
            instants=timeline.instants,
            archived_to=timeline.archived_to,
            plans=plans,
        )
    return Present(again, look)


def with_slices(present: Present) -> Present:
    """Return it with the table's file groups too."""
    with clear_errors(present.table.name):
        slices = read_files(present.table).slices
    return replace(present, look=replace(present.look, slices=slices))
