"""Decides what one partition needs, and gives the reason why not more.

The rules weigh what a rewrite takes away against what it has to write: where many files have piled
up, those of an eighth of the target or less are worth it at once, larger ones the longer the
partition has been left alone. So no partition is rewritten for two small files beside a large
one, and none for files that are near the target already. With a layout, only files that do not lie
as asked are put in order; those that do stay as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf

from optimizer.core.domain.sizes import size_words
from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import PartitionStats
from optimizer.iceberg.planner.domain.estimates import MANY_DELETED
from optimizer.policies.domain.policy import Policy

MANY_SMALL = 12  # that one partition may gather before they are merged at once
CHEAP = 1 / 8  # bytes written for each file that goes, of the target: worth it at once
DEAR = 1.0  # and the most that is paid for one
PATIENT_INTERVALS = 6  # after so many it may cost twice that: whoever wrote it has moved on
ERROR_TOLERANCE = 0.1  # mean squared distance to the target below which sizes are good enough
MANY_DELETE_FILES = 12
MUCH_NEW = 8  # targets of data that do not lie as asked: enough to be ordered at once
FEW_INTERVALS = 24  # after so many intervals little is enough


@dataclass(frozen=True, slots=True)
class PartitionDecision:
    """What was decided of one partition, or of the table where `partition` is None."""

    partition: str | None
    kind: TaskKind | None  # None: nothing is done
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Case:
    """One partition under a policy at a time."""

    stats: PartitionStats
    policy: Policy
    intervals: float  # since it was last rewritten, in minimal intervals; never: endless
    is_full_due: bool

    @property
    def target(self) -> int:
        """The size that files shall have."""
        return self.policy.target_bytes

    @property
    def is_due(self) -> bool:
        """Whether it has been left alone for the minimal interval."""
        return self.intervals >= 1

    @property
    def n_unordered(self) -> int:
        """How many files do not lie as asked; 0 without a layout."""
        return self.stats.n_not_laid_out if self.policy.layout else 0

    def allows(self, kind: TaskKind) -> bool:
        """Whether its policy allows a kind."""
        return kind in self.policy.kinds


def of_partition(case: Case) -> PartitionDecision:
    """Return the decision on a partition: the first rule that fits, or why none does."""
    if not case.stats.n_files:
        return _no(case, "empty", "It has no data files.")
    for rule in _RULES:
        found = rule(case)
        if found is not None:
            return found
    return _no_task(case)


def _full(case: Case) -> PartitionDecision | None:
    stats = case.stats
    if not case.is_full_due or not case.allows(TaskKind.FULL):
        return None
    if not (stats.n_delete_files or stats.n_small >= 2 or case.n_unordered):
        return None
    return _yes(
        case, TaskKind.FULL, "full", f"A full rewrite is due, {case.policy.full_days} days."
    )


def _order(case: Case) -> PartitionDecision | None:
    stats, waiting = case.stats, case.n_unordered
    if not waiting or not case.allows(TaskKind.CLUSTER):
        return None
    n_bytes = stats.n_bytes - stats.laid_out_bytes
    is_much = n_bytes >= MUCH_NEW * case.target or (
        n_bytes >= case.target and 2 * n_bytes >= stats.n_bytes
    )
    are_many = waiting >= MANY_SMALL and n_bytes <= CHEAP * case.target * waiting
    is_enough = case.is_due and (n_bytes >= case.target or waiting >= MANY_SMALL)
    is_old = case.intervals >= FEW_INTERVALS and _hides_anything(case)
    if not (is_much or are_many or is_enough or is_old):
        return None
    return _yes(
        case,
        TaskKind.CLUSTER,
        "order",
        f"{waiting} of {stats.n_files} files ({size_words(n_bytes)}) are not sorted as "
        f"{case.policy.layout}.",
    )


def _deleted(case: Case) -> PartitionDecision | None:
    stats = case.stats
    if stats.deleted_share <= MANY_DELETED or not case.allows(TaskKind.MAJOR):
        return None
    share = f"{stats.deleted_share:.0%}"
    return _yes(
        case, TaskKind.MAJOR, "deleted", f"{share} of its rows are deleted and read all the same."
    )


def _small(case: Case) -> PartitionDecision | None:
    """Many files for few bytes: at once where much has piled up, later for less."""
    gone, price = _bargain(case)
    if gone < 1 or not case.allows(TaskKind.MINOR) or case.policy.layout:
        return None
    if case.stats.n_small >= MANY_SMALL and price <= CHEAP:
        return _yes(case, TaskKind.MINOR, "many-small", _gain_words(case, gone))
    # Amoro takes two small files after an hour; where one of them is large, that hour buys little.
    if case.is_due and price <= min(CHEAP * case.intervals, DEAR / 2):
        return _yes(case, TaskKind.MINOR, "small", _gain_words(case, gone))
    return None


def _near(case: Case) -> PartitionDecision | None:
    """Files below the target that fit together, where that changes the sizes for the better."""
    stats = case.stats
    gone, price = _bargain(case)
    if gone < 1 or not case.allows(TaskKind.MAJOR) or case.policy.layout:
        return None
    if price > (2 * DEAR if case.intervals >= PATIENT_INTERVALS else DEAR):
        return None
    fits = stats.small_bytes >= case.target and stats.two_smallest_bytes <= case.target
    if not fits or stats.squared_error < ERROR_TOLERANCE:
        return None
    return _yes(case, TaskKind.MAJOR, "undersized", _gain_words(case, gone))


def _delete_files(case: Case) -> PartitionDecision | None:
    stats = case.stats
    if not case.allows(TaskKind.DELETES):
        return None
    n_mergeable = stats.n_pos_delete_files - stats.n_dvs + stats.n_eq_delete_files
    enough = MANY_DELETE_FILES if not case.is_due else (1 if stats.n_eq_delete_files else 2)
    if n_mergeable < enough:
        return None
    return _yes(
        case,
        TaskKind.DELETES,
        "delete-files",
        f"{n_mergeable} delete files are read with its data files "
        f"({stats.n_eq_delete_files} of them by equality).",
    )


def _no_task(case: Case) -> PartitionDecision:
    blocked = sorted(_wanted(case) - case.policy.kinds)
    if blocked:
        kinds = " or ".join(blocked)
        return _no(case, "kind", f"{kinds} would help and its policy does not allow it.")
    if case.policy.layout:
        return _not_ordered(case)
    n_small = case.stats.n_small
    gone, price = _bargain(case)
    if gone >= 1:
        each = f"{gone} fewer would cost {size_words(int(price * case.target))} each to write"
        if price > 2 * DEAR:
            return _no(case, "dear", f"{n_small} small files stay: {each}.")
        return _no(case, "wait", f"{n_small} small files wait for more or for time: {each}.")
    if n_small >= 2:
        return _no(case, "no-fit", f"Its {n_small} small files do not fit into fewer.")
    return _no(case, "good", "Its files are as they should be.")


def _not_ordered(case: Case) -> PartitionDecision:
    if case.n_unordered:
        return _no(
            case, "new", f"{case.n_unordered} new files wait to be put in order with more of them."
        )
    if _bargain(case)[0] >= 1:
        return _no(
            case,
            "ordered-small",
            f"{case.stats.n_small} small files are sorted as configured; only a full rewrite "
            "(FULL, full_days) "
            "merges them without losing the order.",
        )
    return _no(case, "good", "Its files are as they should be.")


def _wanted(case: Case) -> set[TaskKind]:
    """Return the kinds that would help if everything were allowed."""
    stats = case.stats
    gone, price = _bargain(case)
    wanted: set[TaskKind] = set()
    if gone >= 1 and stats.n_small >= MANY_SMALL and price <= CHEAP:
        wanted.add(TaskKind.MINOR)
    if stats.deleted_share > MANY_DELETED:
        wanted.add(TaskKind.MAJOR)
    if stats.n_eq_delete_files:
        wanted.add(TaskKind.DELETES)
    return wanted


def _bargain(case: Case) -> tuple[int, float]:
    """Return by how many files there would be fewer, and the targets of bytes written for each."""
    stats = case.stats
    if stats.n_small < 2 or stats.two_smallest_bytes > case.target:
        return 0, inf
    gone = stats.n_small - max(1, ceil(stats.small_bytes / case.target))
    if gone < 1:
        # Two at least fit together, whatever the rest does.
        return 1, stats.two_smallest_bytes / case.target + DEAR
    return gone, stats.small_bytes / case.target / gone


def _hides_anything(case: Case) -> bool:
    """Whether order could let a reader skip anything: not in one small file."""
    return case.stats.n_files > 1 or case.stats.n_bytes >= case.target / 4


def _yes(case: Case, kind: TaskKind, code: str, reason: str) -> PartitionDecision:
    return PartitionDecision(case.stats.partition, kind, code, reason)


def _no(case: Case, code: str, reason: str) -> PartitionDecision:
    return PartitionDecision(case.stats.partition, None, code, reason)


def _gain_words(case: Case, gone: int) -> str:
    stats = case.stats
    return (
        f"{stats.n_small} small files ({size_words(stats.small_bytes)}) become "
        f"{stats.n_small - gone} of at most {size_words(case.target)}."
    )


_RULES: Sequence[Callable[[Case], PartitionDecision | None]] = (
    _full,
    _order,
    _deleted,
    _small,
    _near,
    _delete_files,
)
