"""Refuses removals from a table whose directory is not its own.

Asked of the metastore's own database before anything is removed: a file that two tables share
belongs to both. A location that cannot be read as a plain path counts as a neighbour. Before each
batch the notification log says what was registered since, and only that is read again.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from portal.connectors.metastore import Metastore
from portal.events.change_log import ChangeLog, NotificationLog
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath
from portal.lake.places import Holder, Neighbours
from portal.spark.job import JobContext
from portal.spark.registered import Changes, RegisteredPlaces, around


class OwnPlace:
    """The place of one table, which nothing else may share while files are removed there."""

    def __init__(
        self, job: JobContext, log: NotificationLog, *, db: str, table: str, place: LakePath
    ) -> None:
        own = Holder(db.lower(), table.lower())
        self._name = f"{db}.{table}"
        self._place = place
        self._near = around(place)
        self._neighbours = Neighbours(
            [(own, place)],
            read=job.config.path,
            is_own=lambda seen, mine: seen == mine or seen.is_part_of(mine),
            # A database stands above its tables.
            is_above=lambda seen: bool(seen.table),
        )
        self._registered = RegisteredPlaces(job.spark, job.config)
        # Before the first read: what is registered during it is read again.
        self._log = ChangeLog(log)
        self._see(self._registered.all(self._near))

    def check(self) -> None:
        """Refuse where the place is not the table's own; costs a call while nothing changes.

        Raises:
            RuleViolation: `removal.shared`, it names one of the others.
        """
        changes = self._log.changes()
        if changes is None:
            self._see(self._registered.all(self._near))
        elif changes != Changes():
            self._see(self._registered.of(changes, self._near))
        other = self._neighbours.inside(self._place) or self._neighbours.above(self._place)
        if other is not None:
            raise RuleViolation(
                "removal.shared",
                f"{self._name} does not have its place for itself: {other.holder} is there too, "
                f"at {other.location}. Files of both are together, so nothing is removed. Give "
                "each a directory of its own.",
                table=self._name,
            )

    def _see(self, places: Iterable[tuple[Holder, str]]) -> None:
        for holder, location in places:
            self._neighbours.see(holder, location)


@contextmanager
def own_place(job: JobContext, *, db: str, table: str, place: LakePath) -> Iterator[OwnPlace]:
    """Yield the place of a table, compared with everything registered; check it before each batch.

    Raises:
        RuleViolation: `removal.shared`.
    """
    with Metastore.connect(job.config) as metastore:
        found = OwnPlace(job, metastore, db=db, table=table, place=place)
        found.check()
        yield found
