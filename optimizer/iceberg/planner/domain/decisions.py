"""Defines the decisions on a table and its partitions, and the wording in which they are kept."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from optimizer.core.domain.tasks import REWRITES, TaskKind
from optimizer.iceberg.inspect.domain.stats import PartitionStats


@dataclass(frozen=True, slots=True)
class LastTimes:
    """When each kind of work on the table was last done; `partitions` where known for one.

    `nothing` says when a kind last found nothing to do: it is not tried again before a commit.
    `failed` says when it last failed: upkeep is not tried again the same day.
    `refused` says when people last refused what it would remove.
    """

    table: Mapping[TaskKind, datetime] = field(default_factory=dict)
    partitions: Mapping[str, datetime] = field(default_factory=dict)
    nothing: Mapping[TaskKind, datetime] = field(default_factory=dict)
    failed: Mapping[TaskKind, datetime] = field(default_factory=dict)
    refused: Mapping[TaskKind, datetime] = field(default_factory=dict)

    def rewritten(self, partition: str) -> datetime | None:
        """When a partition was last rewritten, by any kind; as the table where it is not known."""
        known = self.partitions.get(partition)
        if known is not None:
            return known
        return max((at for kind, at in self.table.items() if kind in REWRITES), default=None)


@dataclass(frozen=True, slots=True)
class PartitionDecision:
    """What was decided of one partition, or of the table where `partition` is None."""

    partition: str | None
    kind: TaskKind | None  # None: nothing is done
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """One task: a kind of work on some partitions (None: the whole table), and why."""

    kind: TaskKind
    partitions: tuple[PartitionStats, ...] | None
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done, at most one task a kind, and a verdict on everything."""

    proposals: tuple[Proposal, ...]
    verdicts: tuple[PartitionDecision, ...]

    @property
    def words(self) -> str:
        """All of it in one sentence or two: what is done, or why nothing is."""
        if self.proposals:
            return " ".join(f"{one.kind}: {one.reason}" for one in self.proposals)
        return _most_common(self.verdicts) if self.verdicts else "The table has no files."


def _most_common(verdicts: Sequence[PartitionDecision]) -> str:
    # Of the table as a whole only where nothing is known of its partitions.
    found = [one for one in verdicts if one.partition is not None] or verdicts
    ((code, count),) = Counter(one.code for one in found).most_common(1)
    first = next(one for one in found if one.code == code)
    of = f" So it is for {count} of {len(found)} partitions." if len(found) > 1 else ""
    return f"{first.reason}{of}"
