"""Takes a reader's report in: to each table what indexes dropped and what cubes answered, once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from optimizer.core.services.transactions import transaction_run
from optimizer.cubes.services.uses import CubeReader, ReportedAnswers, cube_uses_add
from optimizer.fleet.domain.days import CUBES
from optimizer.iceberg.indexing.services.uses import ReportedUse, index_uses_add
from optimizer.iceberg.tables.services.lake_sums import Skipped, skips_add, skips_ready
from optimizer.models import IcebergTable, ReportSender
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.access.visibility import visible_to

KEPT_DAYS = 7
"""A program that was silent for so long is forgotten; none sends a report again so late."""


@dataclass(frozen=True, slots=True)
class TableUse:
    """What a reader says of one table since its last report."""

    uuid: str
    indexes: tuple[ReportedUse, ...] = ()
    cubes: tuple[ReportedAnswers, ...] = ()

    @property
    def n_uses(self) -> int:
        """How many uses it speaks of."""
        return len(self.indexes) + len(self.cubes)


@dataclass(frozen=True, slots=True)
class ReportMark:
    """Which report of which program it is; `sequence` grows with each."""

    sender: UUID
    sequence: int


@dataclass(frozen=True, slots=True)
class Taken:
    """How many uses were added, and how many are of no table, index or cube that is known."""

    taken: int
    ignored: int
    repeated: bool = False


def uses_report(
    lake: str,
    tables: Iterable[TableUse],
    *,
    reader: CubeReader,
    mark: ReportMark | None,
    user: User,
    now: datetime,
) -> Taken:
    """Add what indexes and cubes did, by the UUIDs of tables.

    A report whose mark was taken before adds nothing; one without a mark that is sent twice is
    counted twice. What names no table that the person sees, or nothing that is known there, is
    counted and left: a reader may know a table some seconds earlier, and names would fill the
    database.

    Raises:
        NotVisible: `lake.unknown`.
    """
    get_lake(lake)
    given = list(tables)
    seen = IcebergTable.objects.filter(visible_to(user), lake=lake, is_deleted=False)
    rows = {row.uuid: row for row in seen.filter(uuid__in={one.uuid for one in given})}
    causes = [use.kind for one in given for use in one.indexes]
    causes += [CUBES for one in given if one.cubes]
    if rows:
        skips_ready(lake, causes, now=now)
    report = _Report(lake, given, rows, reader, mark, user, now)
    return transaction_run(report.take)


@dataclass(frozen=True, slots=True)
class _Report:
    lake: str
    given: Sequence[TableUse]
    rows: Mapping[str, IcebergTable]
    reader: CubeReader
    mark: ReportMark | None
    user: User
    now: datetime

    def take(self) -> Taken:
        """Add it in the transaction of the caller."""
        lake, now, taken = self.lake, self.now, list[Skipped]()
        if self.mark is not None and not _is_new(lake, self.mark, user=self.user, now=now):
            return Taken(0, 0, repeated=True)
        known = [(row, one) for one in self.given if (row := self.rows.get(one.uuid)) is not None]
        # In one order everywhere, so that reports of the same tables wait for each other.
        for row, one in sorted(known, key=lambda pair: pair[0].pk):
            dropped = index_uses_add(row, one.indexes, now=now)
            answered = cube_uses_add(row, one.cubes, reader=self.reader, now=now)
            taken += [Skipped(it.kind, it.n_plans, it.n_files, it.n_bytes) for it in dropped]
            taken += [Skipped(CUBES, it.n_queries, 0, it.n_bytes) for it in answered]
        skips_add(lake, taken, now=now)
        return Taken(len(taken), sum(one.n_uses for one in self.given) - len(taken))


def _is_new(lake: str, mark: ReportMark, *, user: User, now: datetime) -> bool:
    senders = ReportSender.objects
    key = {"lake": lake, "user": user.username, "sender": mark.sender}
    _, is_first = senders.get_or_create(**key, defaults={"reported_at": now})
    if is_first:
        senders.filter(reported_at__lt=now - timedelta(days=KEPT_DAYS)).delete()
    # The same report at the same moment waits here for the row, and then changes none.
    later = senders.filter(**key, sequence__lt=mark.sequence)
    return later.update(sequence=mark.sequence, reported_at=now) == 1
