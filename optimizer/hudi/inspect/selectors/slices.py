"""Reads the file groups of a Hudi table: base file, logs, the plan it is in, and damage."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from optimizer.core.domain.sizes import BUCKETS
from optimizer.hudi.inspect.domain.damage import corrupt_blocks, lost_bases, merged_blocks
from optimizer.hudi.inspect.domain.facts import FileGroupId, FileSlice, HudiInspection
from optimizer.hudi.inspect.domain.timeline import planned_groups
from optimizer.policies.domain.hudi_policy import HudiPolicy

SHARES = ("no logs", "below 10 %", "10-25 %", "25-50 %", "50 % and more", "logs only")
_SHARE_ENDS = (0.1, 0.25, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """The latest slice of a file group; `plan` is the pending plan that takes it, '' where none.

    `damage` says in words what is wrong with its rows.
    """

    partition: str
    file_id: str
    base_instant: str
    base_bytes: int | None
    n_logs: int
    log_bytes: int
    newest_log_instant: str | None
    is_log_only: bool
    is_small: bool
    plan: str = ""
    plan_action: str = ""
    damage: str = ""

    @property
    def key(self) -> str:
        """What tells it from all others of its table."""
        return f"{self.partition}/{self.file_id}"

    @property
    def log_share(self) -> float:
        """The share of its bytes that lies in logs, from 0 to 1."""
        whole = self.log_bytes + (self.base_bytes or 0)
        return self.log_bytes / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class SliceSums:
    """File groups counted and put into classes, for the pictures."""

    n_groups: int
    n_partitions: int
    n_bases: int
    base_bytes: int
    n_logs: int
    log_bytes: int
    sizes: Sequence[int]  # of base files, in the order of BUCKETS
    shares: Sequence[int]  # of logs, in the order of SHARES


def slices_of(look: HudiInspection, policy: HudiPolicy) -> list[SliceRow]:
    """Return the latest slice of every file group, by partition."""
    planned, damaged = planned_groups(look), _damaged(look)
    rows = []
    for one in look.slices:
        plan = planned.get(one.group)
        rows.append(
            SliceRow(
                partition=one.group.partition,
                file_id=one.group.file_id,
                base_instant=one.base_instant,
                base_bytes=one.base_bytes,
                n_logs=one.n_logs,
                log_bytes=one.log_bytes,
                newest_log_instant=one.newest_log_instant,
                is_log_only=one.is_log_only,
                is_small=one.base_bytes is not None and one.base_bytes < policy.small_bytes,
                plan=plan.instant if plan else "",
                plan_action=str(plan.action) if plan else "",
                damage=damaged.get(one.group, ""),
            )
        )
    return rows


def sums_of(slices: Iterable[FileSlice]) -> SliceSums:
    """Count file groups and put them into classes."""
    rows = list(slices)
    bases = [one.base_bytes for one in rows if one.base_bytes is not None]
    sizes = Counter(_bucket(size) for size in bases)
    shares = Counter(_share(one) for one in rows)
    return SliceSums(
        n_groups=len(rows),
        n_partitions=len({one.group.partition for one in rows}),
        n_bases=len(bases),
        base_bytes=sum(bases),
        n_logs=sum(one.n_logs for one in rows),
        log_bytes=sum(one.log_bytes for one in rows),
        sizes=[sizes[place] for place in range(len(BUCKETS))],
        shares=[shares[place] for place in range(len(SHARES))],
    )


def _damaged(look: HudiInspection) -> dict[FileGroupId, str]:
    found: dict[FileGroupId, str] = {}
    for words, groups in (
        ("its base file is not read any more", (one.group for one in lost_bases(look))),
        (
            "holds rows of an instant that never completed",
            (one.group for one in merged_blocks(look)),
        ),
        ("a block of its logs cannot be read", (one.group for one in corrupt_blocks(look))),
    ):
        for group in dict.fromkeys(groups):
            found[group] = f"{found[group]}; {words}" if group in found else words
    return found


def _bucket(size: int) -> int:
    return next(
        place for place, bucket in enumerate(BUCKETS) if bucket.high is None or size < bucket.high
    )


def _share(one: FileSlice) -> int:
    if not one.n_logs:
        return 0
    if one.base_bytes is None:
        return len(SHARES) - 1
    share = one.log_bytes / ((one.log_bytes + one.base_bytes) or 1)
    return 1 + sum(share >= end for end in _SHARE_ENDS)
