"""Selects a task's partitions to run now, cold ones first; others wait until writers pause.

Each partition is advised on by its own time and writers. A task takes those that may go and leaves
the others for later; where none may go, the whole task waits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from optimizer.iceberg.inspect.domain.stats import PartitionStats
from optimizer.iceberg.planner.domain.conflicts import Advice, Approach

COLD_AFTER = timedelta(days=1)
_CAREFUL = (Approach.NOW, Approach.SMALL_GROUPS, Approach.WAIT)
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A task's partitions after the advice on each.

    `advice` is the most careful one of `partitions`. Where that is to wait, all of them do.
    `again_at` is when the first of those that wait may go.
    """

    partitions: tuple[PartitionStats, ...]
    advice: Advice
    n_waiting: int = 0
    again_at: datetime | None = None
    is_cold: bool = False

    @property
    def n_left_out(self) -> int:
        """How many partitions are left for later while the others go."""
        return 0 if self.advice.approach is Approach.WAIT else self.n_waiting

    @property
    def words(self) -> str:
        """Say how many are left for later; '' where none is."""
        if not self.n_left_out:
            return ""
        of = self.n_left_out + len(self.partitions)
        return f" {self.n_left_out:,} of {of:,} partitions wait for other writers to pause."


def weigh(
    partitions: Sequence[PartitionStats],
    advised: Callable[[PartitionStats], Advice],
    *,
    now: datetime,
) -> Weighed:
    """Part a task's partitions, at least one, by the advice on each."""
    found = [(stats, advised(stats)) for stats in partitions]
    free = [one for one in found if one[1].approach is not Approach.WAIT]
    pauses = [
        advice.not_before
        for _, advice in found
        if advice.approach is Approach.WAIT and advice.not_before is not None
    ]
    going = sorted(free or found, key=lambda one: (one[0].newest_commit_at or _NEVER, one[1].risk))
    return Weighed(
        tuple(stats for stats, _ in going),
        max((advice for _, advice in going), key=_care),
        len(pauses),
        min(pauses, default=None),
        is_cold=all(is_cold(stats, now=now) for stats, _ in going),
    )


def is_cold(stats: PartitionStats, *, now: datetime) -> bool:
    """Whether nobody has written to a partition for a day: what is put right there stays right."""
    newest = stats.newest_commit_at
    return newest is not None and now - newest >= COLD_AFTER


def _care(advice: Advice) -> tuple[int, float]:
    return _CAREFUL.index(advice.approach), advice.risk
