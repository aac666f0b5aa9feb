"""Derives what is known of a table right after a commit, from its snapshot's own totals alone.

Only that so many files of such a size need to be merged: the word that a task is made of within
seconds. The look at the table's partitions comes later, and has the last word.
"""

from dataclasses import dataclass
from datetime import datetime
from math import ceil

from optimizer.core.domain.estimates import Estimate
from optimizer.core.domain.sizes import size_words
from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import SMALL_BELOW
from optimizer.iceberg.planner.domain.partition_rules import MANY_SMALL
from optimizer.policies.domain.policy import Policy, contradiction


@dataclass(frozen=True, slots=True)
class Totals:
    """A table's current snapshot as its summary told it; `n_partitions` of its last look."""

    n_files: int | None
    n_bytes: int | None
    n_partitions: int | None = None


@dataclass(frozen=True, slots=True)
class CommitTrigger:
    """A task that needs no look to be worth it."""

    reason: str
    estimate: Estimate


def get_commit_trigger(
    totals: Totals, *, policy: Policy, last_rewritten_at: datetime | None, now: datetime
) -> CommitTrigger | None:
    """Say why the table's files shall be merged; None: the look decides."""
    if not policy.is_on or TaskKind.MINOR not in policy.kinds or contradiction(policy) is not None:
        return None
    if policy.layout:
        # What is new has to be put in order, which merges it too: one rewrite instead of two.
        return None
    if last_rewritten_at is not None and now - last_rewritten_at < policy.min_interval:
        return None
    if not totals.n_files or totals.n_bytes is None:
        return None
    n_least = max(1, totals.n_partitions or 1)
    mean = totals.n_bytes / totals.n_files
    if totals.n_files < n_least + MANY_SMALL or mean > SMALL_BELOW * policy.target_bytes:
        return None
    n_after = max(n_least, ceil(totals.n_bytes / policy.target_bytes))
    return CommitTrigger(
        f"Its snapshot tells of {totals.n_files:,} files of {size_words(mean)} on average, and "
        f"{size_words(policy.target_bytes)} are asked for.",
        Estimate(totals.n_files, totals.n_bytes, n_after, totals.n_bytes),
    )
