"""Decides the upkeep of a table as a whole: manifests, snapshots, orphans and statistics."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import TableStats
from optimizer.iceberg.planner.domain.decisions import LastTimes, Verdict
from optimizer.policies.domain.policy import Policy

UPKEEP_EVERY = timedelta(days=1)
STATISTICS_EVERY = timedelta(days=7)
REFUSED_FOR = timedelta(days=7)


def upkeep(table: TableStats, policy: Policy, last: LastTimes, now: datetime) -> Iterable[Verdict]:
    """Yield the verdicts on a table's upkeep; kinds that its policy does not allow say nothing."""
    for kind, is_needed, reason in _upkeep_rules(table, policy):
        if kind not in policy.kinds or not is_needed:
            continue
        every = STATISTICS_EVERY if kind is TaskKind.STATISTICS else UPKEEP_EVERY
        ended = _lately(kind, last, now - every)
        refused = last.refused.get(kind)
        if refused is not None and now - refused < REFUSED_FOR:
            why = f"{kind} was refused by people less than {REFUSED_FOR.days} days ago."
            yield Verdict(None, None, "refused", why)
        elif ended is None:
            yield Verdict(None, kind, "upkeep", reason)
        else:
            code, words = ended
            yield Verdict(None, None, code, f"{kind} {words} less than {every.days} days ago.")


def _lately(kind: TaskKind, last: LastTimes, since: datetime) -> tuple[str, str] | None:
    """Say how the kind ended lately, if it did.

    What a table needs is told from few numbers here: where the job, which looks closer, found
    nothing to do or failed, it would do so again.
    """
    for times, code, words in (
        (last.table, "done", "was done"),
        (last.nothing, "tried", "found nothing to do"),
        (last.failed, "failed", "failed"),
    ):
        at = times.get(kind)
        if at is not None and at > since:
            return code, words
    return None


def _upkeep_rules(table: TableStats, policy: Policy) -> Iterable[tuple[TaskKind, bool, str]]:
    # A manifest per eight megabytes is Iceberg's own aim; here their number alone is known.
    yield (
        TaskKind.MANIFESTS,
        table.n_manifests >= policy.manifests and table.n_manifests > table.n_files // 1_000 + 1,
        f"{table.n_manifests} manifests for {table.n_files} files; {policy.manifests} are allowed.",
    )
    yield (
        TaskKind.EXPIRE,
        table.n_snapshots > policy.keep_snapshots,
        f"{table.n_snapshots} snapshots; those older than {policy.expire_days} days may go, "
        f"{policy.keep_snapshots} stay.",
    )
    yield (
        TaskKind.ORPHANS,
        table.n_files > 0,
        f"Files that no snapshot knows and that are older than {policy.orphan_days} days may go.",
    )
    yield (
        TaskKind.STATISTICS,
        table.n_files > 0,
        f"Column statistics are older than {STATISTICS_EVERY.days} days or missing.",
    )
