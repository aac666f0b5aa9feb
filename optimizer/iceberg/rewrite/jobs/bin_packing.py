"""Groups a partition's files to be rewritten together, and decides into how many.

Pure functions over plain numbers. A group that wins nothing is never made: it must leave fewer
files, apply deletes, split what is too big, or lay out what is not yet laid out as asked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.access.jobs.orders import Order
from optimizer.iceberg.inspect.domain.stats import BIG_ABOVE, SMALL_BELOW

MAX_GROUP_FILES = 10_000
# The share of deleted rows from which a file is worth rewriting for its own sake.
DELETED_SHARE = 0.1
# So much above the target is better than one more file well below it.
_ROUND_DOWN = 1.1


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One data file with the deletes that apply to it; `n` is its place in the plan."""

    n: int
    n_bytes: int
    n_rows: int = 0
    n_deletes: int = 0
    n_deleted_rows: int = 0
    sequence: int = 0
    is_laid_out: bool = False
    has_equality: bool = False

    @property
    def deleted_share(self) -> float:
        """At most which share of its rows is deleted."""
        return self.n_deleted_rows / self.n_rows if self.n_rows else float(self.n_deletes > 0)


@dataclass(frozen=True, slots=True)
class BinPacking:
    """What a task asks: its kind, sizes, and whether rows are put in an order."""

    kind: TaskKind
    target_bytes: int
    max_group_bytes: int
    min_files: int = 2
    has_layout: bool = False
    max_group_files: int = MAX_GROUP_FILES

    @classmethod
    def of(cls, order: Order) -> "BinPacking":
        """Return how the files of an order are picked."""
        return cls(
            order.kind,
            order.target_bytes,
            order.max_group_bytes,
            min_files=order.min_files,
            has_layout=bool(order.layout),
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one partition that are rewritten together, into `n_out` files of about one size."""

    files: tuple[PlannedFile, ...]
    n_out: int

    @property
    def n_bytes(self) -> int:
        """Bytes of its data files."""
        return sum(file.n_bytes for file in self.files)

    @property
    def n_rows(self) -> int:
        """Rows of its data files, deleted ones too."""
        return sum(file.n_rows for file in self.files)

    @property
    def n_deletes(self) -> int:
        """How often a delete file applies to one of its files."""
        return sum(file.n_deletes for file in self.files)


def pick(files: Iterable[PlannedFile], picking: BinPacking) -> list[Group]:
    """Return the groups of one partition, oldest files first; no file stands in two of them."""
    wanted = sorted(
        (file for file in files if _is_wanted(file, picking)),
        key=lambda file: (file.sequence, file.n),
    )
    if picking.kind is TaskKind.MINOR:
        wanted = _without_heavy(wanted)
    groups = [Group(tuple(part), n_out(part, picking)) for part in _cut(wanted, picking)]
    return [group for group in groups if _wins(group, picking)]


def n_out(files: Sequence[PlannedFile], picking: BinPacking) -> int:
    """Into how many files: each near the target, none much above it."""
    total = sum(file.n_bytes for file in files)
    down = total // picking.target_bytes
    if down and total / down <= _ROUND_DOWN * picking.target_bytes:
        return down
    return max(1, -(-total // picking.target_bytes))


def is_small(file: PlannedFile, target_bytes: int) -> bool:
    """Whether a file is well below the target."""
    return file.n_bytes < SMALL_BELOW * target_bytes


def _is_wanted(file: PlannedFile, picking: BinPacking) -> bool:
    has_many_deletes = file.n_deletes > 0 and file.deleted_share >= DELETED_SHARE
    match picking.kind:
        case TaskKind.MINOR:
            return is_small(file, picking.target_bytes)
        case TaskKind.MAJOR:
            return is_small(file, picking.target_bytes) or has_many_deletes
        case TaskKind.FULL:
            return True
        case TaskKind.CLUSTER:
            return not file.is_laid_out
        case TaskKind.DELETES:
            # What else applies to it is merged without it: see deletes.py.
            return has_many_deletes or file.has_equality
        case _:
            return False


def _without_heavy(files: list[PlannedFile]) -> list[PlannedFile]:
    """Leave out a file as long as it weighs more than all lighter ones together.

    Else every few new files would have the same big one rewritten again and again.
    """
    lighter = sorted(files, key=lambda file: file.n_bytes)
    rest = sum(file.n_bytes for file in lighter)
    while len(lighter) > 2 and lighter[-1].n_bytes > rest - lighter[-1].n_bytes:
        rest -= lighter.pop().n_bytes
    kept = {file.n for file in lighter}
    return [file for file in files if file.n in kept]


def _cut(files: list[PlannedFile], picking: BinPacking) -> list[list[PlannedFile]]:
    """Cut into parts of about one size that keep both limits; one file may exceed the bytes."""
    total = sum(file.n_bytes for file in files)
    n_parts = max(
        1, -(-total // picking.max_group_bytes), -(-len(files) // picking.max_group_files)
    )
    most_bytes = -(-total // n_parts)
    parts: list[list[PlannedFile]] = []
    held = 0
    for file in files:
        is_full = bool(parts) and (
            held >= most_bytes
            or held + file.n_bytes > picking.max_group_bytes
            or len(parts[-1]) >= picking.max_group_files
        )
        if not parts or is_full:
            parts.append([])
            held = 0
        parts[-1].append(file)
        held += file.n_bytes
    return parts


def _wins(group: Group, picking: BinPacking) -> bool:
    if picking.kind is TaskKind.CLUSTER or (picking.kind is TaskKind.FULL and picking.has_layout):
        return True
    if group.n_deletes and picking.kind is not TaskKind.MINOR:
        return True
    if any(file.n_bytes > BIG_ABOVE * picking.target_bytes for file in group.files):
        return group.n_out != len(group.files)
    enough = len(group.files) >= picking.min_files or group.n_bytes >= picking.target_bytes
    return enough and group.n_out < len(group.files)
