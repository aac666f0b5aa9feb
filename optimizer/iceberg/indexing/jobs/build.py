"""Builds what indexes are missing, some data files at a time, and publishes after each batch.

A run that dies loses one batch: what is published is whole, and the next run goes on from there.
What comes to the driver at once is bounded by rows (`_MOST_BYTES`). A file that cannot be read
sinks only itself: its batch is tried again in halves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from optimizer.iceberg.access.jobs.errors import DISK_FULL, ENDS_THE_TASK, UNREACHABLE
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.domain.wanted import AUTO
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.iceberg.indexing.jobs.coverage import LiveFile
from optimizer.iceberg.indexing.jobs.footers import Footers, RowGroups
from optimizer.iceberg.indexing.jobs.reading import BuiltIndex, build_indexes
from optimizer.iceberg.indexing.jobs.store import IndexStore
from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.manifest import BlobKey, BlobPlace, Covered, DataFile
from optimizer.indexes.domain.puffin import PuffinWriter
from portal.lake.errors import PortalError

MOST_FILES = 500
"""Published after so many data files at the latest."""
_MOST_BYTES = 256 << 20
"""So much comes to the driver at once, by the guess below; one large file may be more."""
_BYTES_A_ROW = {
    "auto": 4.0,
    Kind.BLOOM: 2.0,
    Kind.BITMAP: 4.0,
    Kind.BLOOMRF: 3.0,
    Kind.WORD_BLOOM: 8.0,
    Kind.NGRAM_BLOOM: 16.0,
    Kind.WORD_BITMAP: 32.0,
    Kind.NGRAM_BITMAP: 128.0,
}
_MOST_FAILURES = 12
_ENDS = ENDS_THE_TASK | {DISK_FULL, UNREACHABLE}

Lack = tuple[LiveFile, list[IndexedColumn]]


@dataclass
class Progress:
    """What was built so far."""

    n_files: int = 0
    n_indexes: int = 0
    n_bytes: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    """By location: why a data file has no index."""
    refused: dict[tuple[str, str], int] = field(default_factory=dict)
    """By column and reason: of how many data files an index was not worth it."""
    n_failures: int = 0


class IndexBuild:
    """One build at one table."""

    def __init__(self, table: IcebergTable, store: IndexStore, *, now: datetime) -> None:
        self.progress = Progress()
        self._table = table
        self._store = store
        self._now = now
        self._footers = Footers(table)
        self._names: dict[int, str] = {}

    def batches(self, lacks: Sequence[Lack]) -> Iterator[list[Lack]]:
        """Yield the batches in which files are read and published, each of one set of columns."""
        groups: dict[tuple[tuple[int, str], ...], list[Lack]] = {}
        for one in lacks:
            groups.setdefault(tuple((c.field_id, c.kind) for c in one[1]), []).append(one)
        for alike in groups.values():
            batch: list[Lack] = []
            n_bytes = 0.0
            for lack in alike:
                mine = _guess(lack)
                if batch and (len(batch) >= MOST_FILES or n_bytes + mine > _MOST_BYTES):
                    yield batch
                    batch, n_bytes = [], 0.0
                batch.append(lack)
                n_bytes += mine
            if batch:
                yield batch

    def build(self, batch: Sequence[Lack]) -> None:
        """Read the files of a batch, write their indexes, and publish them.

        Raises:
            PortalError: the store cannot be written, or too many files cannot be read.
        """
        files = [file for file, _ in batch]
        columns = batch[0][1]
        self._names |= {column.field_id: column.name for column in columns}
        row_groups: dict[str, RowGroups] = {}
        whole = []
        for file, found in zip(files, self._footers.read(files), strict=True):
            if isinstance(found, str):
                self._skip(file, found)
            else:
                row_groups[file.data_file.location] = found
                whole.append(file)
        built = self._read(whole, columns) if whole else {}
        covered = self._written(built, {one.data_file.location: one for one in whole}, row_groups)
        if covered:
            self._store.publish(lambda manifest: manifest.adding(covered), now=self._now)
            # Only what is published counts as built.
            for one in covered:
                self.progress.n_files += bool(one.blobs)
                self.progress.n_indexes += len(one.blobs)
                self.progress.n_bytes += sum(place.length for place in one.blobs.values())

    def refuse(self, lacks: Sequence[Lack], reasons: Mapping[int, str]) -> None:
        """Record of files that an index by the choice of the portal does not pay, and why not.

        Raises:
            PortalError: the store cannot be written.
        """
        covered = []
        for file, columns in lacks:
            mine = {
                (one.field_id, AUTO): reasons[one.field_id]
                for one in columns
                if one.kind == AUTO and one.field_id in reasons
            }
            if mine:
                self._names |= {one.field_id: one.name for one in columns}
                covered.append(Covered(file.data_file, {}, mine))
                self._tell_refused(mine)
        if covered:
            self._store.publish(lambda manifest: manifest.adding(covered), now=self._now)

    def _read(
        self, files: Sequence[LiveFile], columns: Sequence[IndexedColumn]
    ) -> dict[str, list[BuiltIndex]]:
        try:
            return build_indexes(self._table, files, columns)
        except PortalError as error:
            self.progress.n_failures += 1
            if error.code in _ENDS or self.progress.n_failures > _MOST_FAILURES:
                raise
            if len(files) == 1:
                self._skip(files[0], error.message)
                return {}
        half = len(files) // 2
        return self._read(files[:half], columns) | self._read(files[half:], columns)

    def _written(
        self,
        built: Mapping[str, list[BuiltIndex]],
        files: Mapping[str, LiveFile],
        row_groups: Mapping[str, RowGroups],
    ) -> list[Covered]:
        """Write one Puffin file with the indexes of a batch."""
        places: dict[str, dict[BlobKey, tuple[int, int, int | None]]] = {}
        refused: dict[str, dict[BlobKey, str]] = {}
        snapshot = self._table.snapshot
        writer = PuffinWriter(
            snapshot_id=self._table.snapshot_id,
            sequence_number=int(snapshot.sequenceNumber()) if snapshot is not None else 0,
        )

        def parts() -> Iterator[bytes]:
            yield writer.start()
            for location, indexes in built.items():
                for one in self._usable(files[location], indexes):
                    if one.refused:
                        refused.setdefault(location, {})[one.field_id, one.wanted] = one.refused
                        continue
                    place = writer.blob(
                        Kind(one.kind).blob_type,
                        one.field_id,
                        len(one.blob),
                        {"data-file": location},
                    )
                    mine = places.setdefault(location, {})
                    mine[one.field_id, one.kind] = (place, len(one.blob), one.passed)
                    yield one.blob
            yield writer.finish()

        name = self._store.write_puffin(parts())
        if not places:
            self._store.discard(name)
        covered = []
        for location in dict.fromkeys((*places, *refused)):
            mine = places.get(location, {})
            of = files[location].data_file
            file = DataFile(
                of.location, of.size, of.records, of.sequence, row_groups.get(location, ())
            )
            blobs = {key: BlobPlace(name, *place) for key, place in mine.items()}
            covered.append(Covered(file, blobs, refused.get(location, {})))
            self._tell_refused(refused.get(location, {}))
        return covered

    def _usable(self, file: LiveFile, indexes: Sequence[BuiltIndex]) -> Iterator[BuiltIndex]:
        """Yield the indexes of a file whose rows were all read."""
        for one in indexes:
            if one.rows != file.data_file.records:
                self._skip(
                    file,
                    f"{one.rows:,} rows were read and the table says {file.data_file.records:,}.",
                )
                return
            yield one

    def _tell_refused(self, refused: Mapping[BlobKey, str]) -> None:
        for (field_id, wanted), why in refused.items():
            key = (f"{self._names.get(field_id, field_id)}:{wanted}", why)
            self.progress.refused[key] = self.progress.refused.get(key, 0) + 1

    def _skip(self, file: LiveFile, why: str) -> None:
        self.progress.skipped[file.data_file.location] = why


def _guess(lack: Lack) -> float:
    file, columns = lack
    return file.data_file.records * sum(_BYTES_A_ROW[column.kind] for column in columns)
