"""Finds lost, doubled or hidden rows of a Hudi table, by the evidence of its files and logs.

Hudi takes every instant before the first write of the active timeline for completed. A block whose
instant is in neither timeline is therefore merged if it is that old: rows that nobody committed,
which the writer has long written again, often into another file group. Younger ones are skipped.
"""

from collections.abc import Callable, Iterable

from optimizer.core.domain.sizes import size_words
from optimizer.hudi.inspect.domain.facts import (
    BlockKind,
    BlockState,
    FileGroupId,
    FileSlice,
    HudiInspection,
    LogBlock,
    plain,
)
from optimizer.hudi.inspect.domain.findings import Code, Finding, RecoveryAction, Severity, finding
from optimizer.hudi.inspect.domain.timeline import COMPACTIONS, first_write, planned_groups
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from portal.lake.counts import count_words


def damage(look: HudiInspection) -> Iterable[Finding]:
    """Yield everything that makes the table's rows wrong."""
    yield from _corrupt(look)
    yield from _lost_base(look)
    yield from _unknown(look)
    yield from _duplicates(look)


def damaged_groups(look: HudiInspection) -> frozenset[FileGroupId]:
    """Return the file groups in which a service would make the damage last."""
    return frozenset(
        {one.group for one in corrupt_blocks(look)}
        | {one.group for one in merged_blocks(look)}
        | {one.group for one in lost_bases(look)}
    )


def spared(look: HudiInspection, instants: Iterable[str]) -> tuple[str, ...]:
    """Return those of some plans that take no damaged file group, in their order.

    What cannot be read of a plan may be any group, so it is not among them.
    """
    damaged = damaged_groups(look)
    plans = {one.instant: one for one in look.plans}
    return tuple(
        one
        for one in instants
        if not damaged or (one in plans and damaged.isdisjoint(plans[one].file_groups))
    )


def corrupt_blocks(look: HudiInspection) -> tuple[LogBlock, ...]:
    """Return the corrupt blocks in logs that readers read.

    The logs of an instant that is pending, or unknown and not taken for completed, are not read.
    """
    is_read = _reader(look)
    return tuple(
        one
        for one in look.blocks
        if (one.kind is BlockKind.CORRUPT or one.state is BlockState.CORRUPT)
        and (one.instant is None or is_read(one.instant))
    )


def merged_blocks(look: HudiInspection) -> tuple[LogBlock, ...]:
    """Return the blocks of instants in neither timeline that Hudi merges all the same."""
    is_read = _reader(look)
    return tuple(one for one in _nowhere(look) if is_read(one.instant or ""))


def lost_bases(look: HudiInspection) -> tuple[FileSlice, ...]:
    """Return the log-only slices of file groups that had a base file before.

    A group whose compaction is planned is not one of them: until the plan is executed its newest
    slice holds logs only, and readers merge the one before.
    """
    planned = planned_groups(look)
    return tuple(
        one
        for one in look.slices
        if one.is_log_only
        and one.has_earlier_base
        and not (
            (plan := planned.get(one.group)) is not None
            and plan.action in COMPACTIONS
            and plan.instant == one.base_instant
        )
    )


def _nowhere(look: HudiInspection) -> tuple[LogBlock, ...]:
    return tuple(one for one in look.blocks if one.state is BlockState.NOWHERE and one.instant)


def _reader(look: HudiInspection) -> Callable[[str], bool]:
    """Return what Hudi asks of an instant before it reads what that wrote."""
    first = first_write(look)
    ended = {one.instant for one in look.instants if not one.is_pending}
    return lambda instant: instant in ended or (first is not None and instant < first)


def _corrupt(look: HudiInspection) -> Iterable[Finding]:
    found = corrupt_blocks(look)
    if not found:
        return
    skipped = sum(one.n_bytes for one in found)
    yield finding(
        Code.CORRUPT_BLOCKS,
        Severity.CRITICAL,
        f"{count_words(len(found), 'block')} of logs cannot be read in "
        f"{count_words(len({one.group for one in found}), 'file group')}; readers skip them "
        f"({size_words(skipped)}) and the rows in them. A compaction would make the loss last.",
        [plain(one) for one in found],
        RecoveryAction(
            "Hold the table's services, let the writer write again what it wrote at the instants "
            "named in the evidence, and release them then.",
            holds=True,
        ),
    )


def _lost_base(look: HudiInspection) -> Iterable[Finding]:
    found = lost_bases(look)
    if not found:
        return
    yield finding(
        Code.LOST_BASE,
        Severity.CRITICAL,
        f"{count_words(len(found), 'file group')} had a base file and now have logs only: the rows "
        "of the base file are not read, and a clean would delete it.",
        [plain(one) for one in found],
        RecoveryAction(
            "Hold the table's services so that nothing cleans the earlier base files, then restore "
            "the table to a savepoint, or write their rows again.",
            holds=True,
        ),
    )


def _unknown(look: HudiInspection) -> Iterable[Finding]:
    merged = merged_blocks(look)
    known = frozenset(merged)
    skipped = [one for one in _nowhere(look) if one not in known]
    if merged:
        yield finding(
            Code.UNKNOWN_BLOCKS,
            Severity.CRITICAL,
            f"Of instants that completed in neither the active nor the archived timeline: "
            f"{count_words(len(merged), 'block')} of logs. They are before its first write "
            f"{first_write(look)} and are read as if they had completed.{_keys_words(look)}",
            [*map(plain, look.duplicates), *map(plain, merged)],
            RecoveryAction(
                "Hold the table's services, for each would make these rows last. Then let the "
                "writer delete the keys in the evidence, or write them again as they shall be, "
                "and release the services.",
                holds=True,
            ),
        )
    if skipped:
        yield finding(
            Code.UNKNOWN_BLOCKS,
            Severity.WARNING,
            f"Of instants in neither timeline: {count_words(len(skipped), 'block')} of logs. "
            "Readers skip them now, and will read them once the timeline is archived past them.",
            [plain(one) for one in skipped],
            RecoveryAction(
                "Hold the table's services, let its writer keep the timeline meanwhile "
                "(hoodie.archive.automatic=false), and move the log files named in the evidence "
                "away from the table: no reader reads them now.",
                holds=True,
            ),
            RecoveryAction(
                "Where their rows are missed: have them listed first. Two people approve which of "
                "them come back; a newer row of today stays.",
                Service.RECOVERY,
                Step.SCHEDULE,
            ),
        )


def _duplicates(look: HudiInspection) -> Iterable[Finding]:
    if not look.duplicates or merged_blocks(look):
        return
    yield finding(
        Code.DUPLICATE_KEYS,
        Severity.CRITICAL,
        f"{count_words(len(look.duplicates), 'record key')} stand in more than one file group of "
        "their partition, and no block of an unknown instant explains it.",
        [plain(one) for one in look.duplicates],
        RecoveryAction(
            "Hold the table's services and compare the rows in the evidence; a writer that changes "
            "its index or its parallelism without a rebuild writes keys twice.",
            holds=True,
        ),
    )


def _keys_words(look: HudiInspection) -> str:
    if not look.has_read_keys:
        return " Duplicate keys were not checked."
    if not look.duplicates:
        return " No key is duplicated yet."
    return f" {count_words(len(look.duplicates), 'record key')} are duplicated."
