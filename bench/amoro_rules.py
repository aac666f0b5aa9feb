"""Simulates Apache Amoro's published optimizing rules for a partition, for comparison.

Facts from Amoro's documentation and sources (August 2026);
tests/unit/bench/test_amoro_rules.py puts the cases of its own tests for evaluator, planner and
metadata trigger to this simulation. Iceberg tables only; what concerns its own Mixed format is
left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

MB = 1024**2


class AmoroType(StrEnum):
    """The kinds of optimizing."""

    MINOR = "MINOR"
    MAJOR = "MAJOR"
    FULL = "FULL"


@dataclass(frozen=True, slots=True)
class AmoroConfig:
    """The table properties `self-optimizing.*` with their defaults; times in seconds, -1 never."""

    target: int = 128 * MB
    fragment_ratio: int = 8
    min_target_ratio: float = 0.75
    minor_files: int = 12
    minor_interval: float = 3600.0
    duplicate_ratio: float = 0.1
    full_interval: float = -1.0
    full_rewrites_all: bool = True
    max_task: int = 128 * MB
    open_cost: int = 4 * MB
    fallback_interval: float = -1.0  # from 0 on the metadata trigger is used
    mse_tolerance: int = 0

    @property
    def fragment(self) -> int:
        """The largest size of a fragment."""
        return self.target // self.fragment_ratio

    @property
    def min_target(self) -> int:
        """The size from which on a file is large enough."""
        return int(self.target * self.min_target_ratio)

    @property
    def uses_metadata(self) -> bool:
        """Whether the metadata trigger is on."""
        return self.fallback_interval >= 0


@dataclass(frozen=True, slots=True)
class AmoroDelete:
    """A delete file as it applies to one data file; a shared one has the same name for each."""

    name: str
    n_rows: int
    n_bytes: int = 0
    is_equality: bool = False
    is_optimized: bool = False  # written by an earlier optimizing for exactly this data file


@dataclass(frozen=True, slots=True)
class AmoroFile:
    """A data file with the deletes that apply to it."""

    n_bytes: int
    n_rows: int = 0
    deletes: tuple[AmoroDelete, ...] = ()

    @property
    def n_pos_rows(self) -> int:
        """Rows in its position deletes."""
        return sum(one.n_rows for one in self.deletes if not one.is_equality)


@dataclass(frozen=True, slots=True)
class LastOptimized:
    """When each type was last done, in seconds; 0 is never."""

    minor: float = 0.0
    major: float = 0.0
    full: float = 0.0

    @property
    def any(self) -> float:
        """The latest of them."""
        return max(self.minor, self.major, self.full)


@dataclass(frozen=True, slots=True)
class AmoroTask:
    """Files that one task rewrites, and files of which only the deletes are rewritten."""

    rewritten: tuple[AmoroFile, ...]
    deletes_only: tuple[AmoroFile, ...]


@dataclass(frozen=True, slots=True)
class AmoroPartition:
    """The evaluation of one partition; `plan` gives its tasks."""

    files: Sequence[AmoroFile]
    config: AmoroConfig
    last: LastOptimized
    now: float

    @property
    def is_full_due(self) -> bool:
        """Whether the interval of full optimizing is over."""
        return 0 <= self.config.full_interval < self.now - self.last.full

    def is_fragment(self, file: AmoroFile) -> bool:
        """Whether a file is a fragment."""
        return file.n_bytes <= self.config.fragment

    def is_undersized(self, file: AmoroFile) -> bool:
        """Whether it is more than a fragment and less than large enough."""
        return self.config.fragment < file.n_bytes <= self.config.min_target

    def is_rewritten(self, file: AmoroFile) -> bool:
        """Whether it is rewritten for its own sake."""
        if self.is_full_due:
            everything = self.config.full_rewrites_all
            return everything or bool(file.deletes) or file.n_bytes <= self.config.min_target
        many = file.n_pos_rows > file.n_rows * self.config.duplicate_ratio
        return self.is_fragment(file) or many

    def has_deletes_rewritten(self, file: AmoroFile) -> bool:
        """Whether the deletes of a large enough file become one."""
        n_equality = sum(one.is_equality for one in file.deletes)
        n_position = len(file.deletes) - n_equality
        if n_position > 1 or n_equality:
            return True
        return n_position == 1 and not file.deletes[0].is_optimized

    def is_necessary(self) -> bool:
        """Whether the partition is optimized at all."""
        if not self._passes_metadata():
            return False
        return self.is_full() if self.is_full_due else self.is_major() or self.is_minor()

    def type(self) -> AmoroType:
        """Which type its optimizing is."""
        if self.is_full():
            return AmoroType.FULL
        return AmoroType.MAJOR if self.is_major() else AmoroType.MINOR

    def is_minor(self) -> bool:
        """Many fragments and equality deletes, or some and an hour gone, or doubled deletes."""
        n_small = len(self._fragments()) + len(self._deletes(equality=True))
        interval = self.config.minor_interval
        is_due = 0 <= interval < self.now - self.last.minor
        return n_small >= self.config.minor_files or (n_small > 1 and is_due) or self._has_doubled()

    def is_major(self) -> bool:
        """Undersized files that fill a target and of which two fit together, or many deletes."""
        sizes = sorted(one.n_bytes for one in self._undersized())
        is_enough = sum(sizes) >= self.config.target and sum(sizes[:2]) <= self.config.target
        return (is_enough and len(sizes) > 1) or bool(self._rewritten_segments())

    def is_full(self) -> bool:
        """Whether a full optimizing is due and there is anything to do."""
        return self.is_full_due and (
            any(one.deletes for one in self.files)
            or len(self._fragments()) >= 2
            or len(self._undersized()) >= 2
            or bool(self._rewritten_segments())
        )

    def cost(self) -> int:
        """Bytes read and written, a tenth for deletes only, and what opening costs."""
        rewritten = [*self._fragments(), *self._rewritten_segments(), *self._undersized()]
        deletes_only = self._deletes_only()
        deletes = [*self._deletes(equality=True), *self._deletes(equality=False)]
        n_opened = len(rewritten) + len(deletes_only) + len(deletes)
        return (
            2 * sum(one.n_bytes for one in rewritten)
            + sum(one.n_bytes for one in deletes_only) // 10
            + sum(one.n_bytes for one in deletes)
            + n_opened * self.config.open_cost
        )

    def plan(self) -> list[AmoroTask]:
        """Return its tasks: undersized files by themselves, then the rest, in bins of task size."""
        if not self.is_necessary():
            return []
        own = [one for one in self.files if self.is_rewritten(one)]
        undersized = [one for one in self._undersized() if not self.is_rewritten(one)]
        bins = [each for each in self._bins(undersized) if len(each) > 1]
        alone = [each[0] for each in self._bins(undersized) if len(each) == 1]
        deletes_only = self._deletes_only()
        deletes_only += [one for one in alone if self.has_deletes_rewritten(one)]
        tasks = [AmoroTask(tuple(each), ()) for each in bins]
        for each in self._bins([*own, *deletes_only]):
            rewritten = tuple(one for one in each if self.is_rewritten(one))
            rest = tuple(one for one in each if not self.is_rewritten(one))
            tasks.append(AmoroTask(rewritten, rest))
        return [one for one in tasks if not _is_one_clean_file(one)]

    def _passes_metadata(self) -> bool:
        config = self.config
        if not config.uses_metadata or self.now - self.last.any >= config.fallback_interval:
            return True
        small = [one.n_bytes for one in self.files if one.n_bytes <= config.min_target]
        if len(small) <= 1:
            return False
        error = sum((config.min_target - size) ** 2 for size in small) / len(small)
        return config.mse_tolerance == 0 or error >= config.mse_tolerance**2

    def _fragments(self) -> list[AmoroFile]:
        return [one for one in self.files if self.is_fragment(one)]

    def _undersized(self) -> list[AmoroFile]:
        return [one for one in self.files if self.is_undersized(one) and not self.is_rewritten(one)]

    def _rewritten_segments(self) -> list[AmoroFile]:
        return [one for one in self.files if not self.is_fragment(one) and self.is_rewritten(one)]

    def _deletes_only(self) -> list[AmoroFile]:
        return [
            one
            for one in self.files
            if one.n_bytes > self.config.min_target
            and not self.is_rewritten(one)
            and self.has_deletes_rewritten(one)
        ]

    def _has_doubled(self) -> bool:
        return any(
            sum(not each.is_equality for each in one.deletes) > 1 for one in self._deletes_only()
        )

    def _deletes(self, *, equality: bool) -> list[AmoroDelete]:
        found = {
            each.name: each
            for one in self.files
            for each in one.deletes
            if each.is_equality is equality
        }
        return list(found.values())

    def _bins(self, files: Iterable[AmoroFile]) -> list[list[AmoroFile]]:
        """First fit, in the given order."""
        most = max(self.config.target, self.config.max_task)
        bins: list[list[AmoroFile]] = []
        held: list[int] = []
        for one in files:
            place = next((n for n, size in enumerate(held) if size + one.n_bytes <= most), None)
            if place is None:
                bins.append([one])
                held.append(one.n_bytes)
            else:
                bins[place].append(one)
                held[place] += one.n_bytes
        return bins


@dataclass(frozen=True, slots=True)
class AmoroTotals:
    """What a snapshot's summary says of a whole table."""

    n_files: int
    n_bytes: int
    n_delete_files: int = 0


def is_worth_evaluating(
    totals: AmoroTotals, config: AmoroConfig, *, last: float, now: float
) -> bool:
    """Whether a table is evaluated, where the metadata trigger is on."""
    if 0 <= config.fallback_interval <= now - last:
        return True
    if not totals.n_files:
        return False
    return bool(totals.n_delete_files) or totals.n_bytes / totals.n_files <= config.min_target


def health(partitions: Iterable[Sequence[AmoroFile]], config: AmoroConfig) -> int:
    """Give its health score of a table, 0 to 100: means over partitions of three rounded parts."""
    parts = [_health_parts(files, config) for files in partitions]
    if not parts:
        return 100
    return sum(_up(sum(column) / len(parts)) for column in zip(*parts, strict=True))


def _health_parts(files: Sequence[AmoroFile], config: AmoroConfig) -> tuple[int, int, int]:
    n_bytes, n_rows = sum(one.n_bytes for one in files), sum(one.n_rows for one in files)
    deletes = {each.name: each for one in files for each in one.deletes}.values()
    equality = sum(each.n_rows for each in deletes if each.is_equality)
    position = sum(each.n_rows for each in deletes if not each.is_equality)
    weight = 0.0
    if len(files) > 1:
        weight = _share(len(files), config.minor_files) * _share(n_bytes, config.min_target)
    small = 1 - _share(n_bytes / len(files) if files else 0, config.min_target)
    ratio = config.duplicate_ratio
    return (
        _up(40 - weight * 40 * small),
        _up(40 - weight * 40 * _share(_share(equality, n_rows), ratio)),
        _up(20 - weight * 20 * _share(_share(position, n_rows), 2 * ratio)),
    )


def _share(part: float, whole: float) -> float:
    return min(part, whole) / whole if whole > 0 else 0.0


def _up(number: float) -> int:
    return -int(-number // 1)


def _is_one_clean_file(task: AmoroTask) -> bool:
    return len(task.rewritten) == 1 and not task.deletes_only and not task.rewritten[0].deletes
