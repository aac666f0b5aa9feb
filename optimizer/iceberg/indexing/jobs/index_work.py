"""The task INDEX: builds a table's missing indexes, or removes those that nobody wants any more.

Rewrites call `cover_new_files` at their end, so that what they wrote is never without its indexes
for a planning cycle.
"""

from itertools import islice

from optimizer.core.domain.tasks import REWRITES
from optimizer.core.jobs.stops import STOPS, check_stop
from optimizer.iceberg.access.jobs.commits import told
from optimizer.iceberg.access.jobs.executor import TaskExecutor
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.domain.wanted import (
    INDEXED_AT,
    INDEXED_FOR,
    mark_of,
    parse_all_wanted,
)
from optimizer.iceberg.indexing.jobs.auto_choice import choose_kinds
from optimizer.iceberg.indexing.jobs.build import IndexBuild, Progress
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn, find_columns
from optimizer.iceberg.indexing.jobs.coverage import LiveFile, dead_locations, live_files
from optimizer.iceberg.indexing.jobs.coverage_rows import write_coverage
from optimizer.iceberg.indexing.jobs.store import IndexStore
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow
from optimizer.indexes.domain.manifest import DataFile, Manifest
from portal.lake.counts import count_words
from portal.lake.errors import PortalError

_NAMED = 3
_MARKS = (INDEXED_AT, INDEXED_FOR)


def cover_new_files(rewrite: TaskExecutor) -> None:
    """Index what a rewrite has just written, in the same run.

    The rewrite is done whatever comes of it: a failure is a note, and the next INDEX goes on.

    Raises:
        StaleState: `run.cancelled` or `task.cancelled`.
    """
    order, result = rewrite.order, rewrite.result
    if order.kind not in REWRITES or not order.index_columns or not result.commits:
        return
    work = IndexWork(rewrite.job, order)
    try:
        work.run()
    except PortalError as error:
        if error.code in STOPS:
            raise
        result.notes.append(f"The new files could not be indexed: {error.message}")
        return
    result.has_coverage = work.result.has_coverage
    marks = {key: work.result.after[key] for key in _MARKS if key in work.result.after}
    result.after |= marks
    result.notes += [*work.result.notes, *(error.message for error in work.result.errors)]


class IndexWork(TaskExecutor):
    """Indexes of a table's data files."""

    is_complete, _snapshot_id = False, 0

    def run(self) -> None:
        """Do it, and say which snapshot has all its indexes now."""
        super().run()
        if self.is_complete:
            wanted = parse_all_wanted(self.order.index_columns)
            self.result.after |= {INDEXED_AT: self._snapshot_id, INDEXED_FOR: mark_of(wanted)}

    def work(self, table: IcebergTable) -> None:
        """Build what lacks, drop what no snapshot holds, and remove files that nothing names."""
        wanted = parse_all_wanted(self.order.index_columns)
        columns, refused = find_columns(table, wanted)
        self.result.errors += refused
        store = IndexStore(table, fail=self.fail)
        if not columns and not store.newest().covered:
            self.result.notes.append("No column of the table is to be indexed.")
            return
        store.prepare()
        files = live_files(table)
        if files and columns:
            self._build(table, store, files, columns)
        after = self._tidy(table, store, files, None if refused else columns)
        write_coverage(self.job, self.order.task, files=files, columns=columns, manifest=after)
        self.result.has_coverage = True
        self.result.notes += store.warnings

    def _build(
        self,
        table: IcebergTable,
        store: IndexStore,
        files: list[LiveFile],
        columns: list[IndexedColumn],
    ) -> None:
        use_arrow(table.spark)
        build = IndexBuild(table, store, now=self.job.now)
        chosen = choose_kinds(table, files, columns, store.newest(), uses=self.order.index_uses)
        lacks = chosen.lacks
        try:
            build.refuse(chosen.refused, chosen.reasons)
            for batch in build.batches(lacks):
                check_stop(self.job, self.order.task)
                build.build(batch)
            self.is_complete, self._snapshot_id = True, table.snapshot_id
        finally:
            self._tell(table, build.progress, n_lacking=len(lacks))

    def _tell(self, table: IcebergTable, progress: Progress, *, n_lacking: int) -> None:
        if progress.n_indexes:
            self.result.commits.append(
                {
                    **told(table.snapshot, bytes_added=progress.n_bytes),
                    "n_indexes": progress.n_indexes,
                    "n_indexed_files": progress.n_files,
                }
            )
            self.result.notes.append(
                f"{count_words(progress.n_indexes, 'index', many='indexes')} of "
                f"{count_words(progress.n_files, 'data file')} built."
            )
        elif not n_lacking and not progress.refused:
            self.result.notes.append("Every data file has the indexes that are asked for.")
        for (column, reason), n in progress.refused.items():
            self.result.notes.append(f"{column} of {count_words(n, 'data file')}: {reason}")
        for location, why in islice(progress.skipped.items(), _NAMED):
            self.result.notes.append(f"{location} is not indexed: {why}")
        if len(progress.skipped) > _NAMED:
            self.result.notes.append(
                f"{len(progress.skipped) - _NAMED} more data files are not indexed."
            )

    def _tidy(
        self,
        table: IcebergTable,
        store: IndexStore,
        files: list[LiveFile],
        columns: list[IndexedColumn] | None,
    ) -> Manifest:
        """Drop entries of files that are gone, and of indexes that are not asked for any more."""
        before = store.newest()
        dead = dead_locations(table, before, files)
        keep = None if columns is None else {(one.field_id, one.kind) for one in columns}

        def is_wanted(file: DataFile, key: tuple[int, str]) -> bool:
            if file.location in dead:
                return False
            return keep is None or key in keep or (key[0], "auto") in keep

        def change(manifest: Manifest) -> Manifest:
            return manifest.only(is_wanted)

        after = store.publish(change, now=self.job.now)
        n_gone = len(before.covered) - len(after.covered)
        if n_gone > 0:
            self.result.notes.append(
                f"Indexes of {count_words(n_gone, 'data file')} that left the table were dropped."
            )
        n_removed = store.clean()
        if n_removed:
            self.result.notes.append(f"{count_words(n_removed, 'old index file')} removed.")
        return after
