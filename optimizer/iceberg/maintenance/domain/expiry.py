"""Decides which snapshots of a table may expire, and gives the reason why each other one stays.

Pure, and on the safe side: what is current, what a branch or a tag holds, what is young, what is
among the newest and what somebody wrote aside for later stays. Metadata that contradicts itself
lets nothing go at all.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from optimizer.iceberg.tables.domain.branches import is_trial
from portal.lake.errors import RuleViolation

MAIN = "main"


class Stay(StrEnum):
    """Why a snapshot stays; the first that holds is told."""

    CURRENT = "CURRENT"
    REFERENCED = "REFERENCED"  # a tag or the head of a branch
    TRIAL = "TRIAL"  # the head of the branch of a trial, which is gone soon
    BRANCH = "BRANCH"  # part of a branch's own history, or kept by its retention
    STAGED = "STAGED"  # written aside, to be published later
    YOUNG = "YOUNG"
    NEWEST = "NEWEST"


@dataclass(frozen=True, slots=True)
class SnapshotFact:
    """One snapshot as the table's metadata tells; `is_staged`: it waits to be published."""

    snapshot_id: int
    parent_id: int | None
    at: datetime
    is_staged: bool = False


@dataclass(frozen=True, slots=True)
class RefFact:
    """A branch or a tag, with the retention that its owner gave it."""

    name: str
    snapshot_id: int
    is_branch: bool
    min_snapshots: int | None = None
    max_age: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Retention:
    """What the policy keeps, and what the table's own settings ask for beside it."""

    expire_days: int
    keep_snapshots: int
    min_snapshots: int = 0
    max_age: timedelta = timedelta(0)

    @property
    def age(self) -> timedelta:
        """How old a snapshot must be to go: the longer of the policy's and the table's own."""
        return max(timedelta(days=max(1, self.expire_days)), self.max_age)

    @property
    def newest(self) -> int:
        """How many of main's newest stay: the more of the policy's and the table's own."""
        return max(1, self.keep_snapshots, self.min_snapshots)


@dataclass(frozen=True, slots=True)
class Judged:
    """Which snapshots may go, the oldest first, and why each of the others stays."""

    goes: tuple[int, ...]
    stays: Mapping[int, Stay]

    @property
    def n_stays(self) -> dict[str, int]:
        """How many stay for each reason, the commonest first."""
        return {str(reason): n for reason, n in Counter(self.stays.values()).most_common()}


def judge(
    snapshots: Sequence[SnapshotFact],
    refs: Sequence[RefFact],
    *,
    retention: Retention,
    now: datetime,
) -> Judged:
    """Judge each snapshot of a table; the same arguments give the same answer.

    Raises:
        RuleViolation: `removal.metadata`, the metadata contradicts itself.
    """
    by_id = {one.snapshot_id: one for one in snapshots}
    _check(snapshots, by_id, refs)
    main = next((one for one in refs if one.name == MAIN), None)
    if main is None:
        return Judged((), dict.fromkeys(by_id, Stay.REFERENCED))
    line = _history(main.snapshot_id, by_id)
    # The last word wins, so the strongest reason is said last.
    stays: dict[int, Stay] = dict.fromkeys(line[: retention.newest], Stay.NEWEST)
    stays |= {one.snapshot_id: Stay.YOUNG for one in snapshots if one.at > now - retention.age}
    known = {one for ref in refs if ref.is_branch for one in _history(ref.snapshot_id, by_id)}
    stays |= {one.snapshot_id: Stay.STAGED for one in snapshots if _waits(one, known)}
    for ref in refs:
        if ref.is_branch:
            stays |= dict.fromkeys(_held(ref, by_id, frozenset(line), now), Stay.BRANCH)
    stays |= {one.snapshot_id: Stay.TRIAL for one in refs if is_trial(one.name)}
    stays |= {one.snapshot_id: Stay.REFERENCED for one in refs if not is_trial(one.name)}
    stays[main.snapshot_id] = Stay.CURRENT
    goes = sorted(by_id.keys() - stays.keys(), key=lambda key: (by_id[key].at, key))
    return Judged(tuple(goes), stays)


def still_going(approved: Iterable[int], judged: Judged) -> tuple[int, ...]:
    """Return those of the approved snapshots that may still go, in the order of the judgement."""
    wanted = frozenset(approved)
    return tuple(one for one in judged.goes if one in wanted)


def _check(
    snapshots: Sequence[SnapshotFact], by_id: Mapping[int, SnapshotFact], refs: Sequence[RefFact]
) -> None:
    lost = sorted({one.name for one in refs if one.snapshot_id not in by_id})
    if len(by_id) != len(snapshots) or lost:
        names = f"{', '.join(lost)} means a snapshot that is not there"
        what = names if lost else "a snapshot is there twice"
        raise RuleViolation(
            "removal.metadata",
            f"The table's metadata contradicts itself ({what}), so nothing of it is removed. "
            "Set the table to a metadata file that is whole.",
        )


def _waits(one: SnapshotFact, known: set[int]) -> bool:
    return one.is_staged and one.snapshot_id not in known


def _history(start: int, by_id: Mapping[int, SnapshotFact]) -> list[int]:
    """Return a snapshot and its ancestors as far as they are there, the newest first."""
    found: list[int] = []
    seen: set[int] = set()
    key: int | None = start
    while key is not None and key in by_id and key not in seen:
        found.append(key)
        seen.add(key)
        key = by_id[key].parent_id
    return found


def _held(
    ref: RefFact, by_id: Mapping[int, SnapshotFact], main: frozenset[int], now: datetime
) -> set[int]:
    """Give what a branch holds: its own history, and what its retention keeps of the shared one."""
    line = _history(ref.snapshot_id, by_id)
    held = {one for one in line if one not in main} if ref.name != MAIN else set()
    held |= set(line[: ref.min_snapshots or 0])
    if ref.max_age is not None:
        held |= {one for one in line if by_id[one].at > now - ref.max_age}
    return held
