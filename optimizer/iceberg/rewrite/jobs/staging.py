"""Stages files that are written but not committed, so that no crash leaves them for ever.

Each group of files is written below a folder of its own, `<data>/lakewarden/<stage>/`, announced
by a marker `<table>/_lakewarden/<stage>` before the first byte, which says where the folder is.
Commit and clean-up take the marker away again, so a marker that stays tells of a death. A later
task on the table first writes `<stage>.dead` beside it. Whoever commits looks for `.dead` just
before: a run that was only slow gives up, loses nothing. One that is frozen between this look and
its commit may commit days later, so nothing is deleted at first: after a day the files are moved
aside by rename and the marker becomes `<stage>.buried`. They come back where a snapshot names them
after all, and are deleted a week later. The table's uuid is part of a stage's name: another table
may lie at the same place by then, and its snapshots say nothing of the files of this one.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.errors import FILE_MISSING, clear_errors, conflict
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from portal.lake.errors import PortalError
from portal.safety.failpoints import Failpoints

SILENT = timedelta(minutes=30)
"""A marker as old as this is called dead."""
CERTAIN = timedelta(days=1)
"""So long after that its files are moved aside: an application is ended after 24 hours at most."""
KEPT = timedelta(days=7)
"""For so long they lie aside, in case that a run was frozen for longer and commits after all."""
_ASIDE = "_buried"
_DEAD, BURIED = ".dead", ".buried"
_MARK = "Files of a rewrite that has not been committed yet are in:"


@dataclass(frozen=True, slots=True)
class Stage:
    """One folder for the files of one group, with its marker."""

    folder: str
    marker: str

    @property
    def aside(self) -> str:
        """Where its files lie once nobody is believed to commit them."""
        parent, _, name = self.folder.rpartition("/")
        return f"{parent}/{_ASIDE}/{name}"


class StagingArea:
    """The folders of one deployment's run in one table."""

    def __init__(
        self, table: IcebergTable, *, deployment: str, run: str, fail: Failpoints | None = None
    ) -> None:
        self._table = table
        self._fail = fail or Failpoints()
        self._io: Any = table.java.io()
        self._of_table = f"{deployment}.{table.uuid}."
        self._of_run = f"{self._of_table}{run}."
        self._markers = f"{table.location}/_lakewarden"
        self._data = f"{table.data_location}/lakewarden"

    def open(self, group: str) -> Stage:
        """Announce a new folder; nothing is written there yet."""
        stage = self._stage(f"{self._of_run}{group}")
        with self._fail.step("mark"):
            self._mark(stage.marker, stage.folder)
        return stage

    def check(self, stage: Stage) -> None:
        """Make sure, just before a commit, that nobody has called the stage dead or removed it.

        Raises:
            StaleState: `iceberg.conflict`.
        """
        with clear_errors(self._table.name):
            is_ours = self._io.newInputFile(stage.marker).exists()
            is_dead = self._io.newInputFile(stage.marker + _DEAD).exists()
        if is_dead or not is_ours:
            raise conflict(self._table.name, "This run was silent for too long.")

    def close(self, stage: Stage) -> None:
        """Take the marker away: no file of its folder waits for a commit any more."""
        with clear_errors(self._table.name):
            with self._fail.step("close"):
                # Before `.dead`: whoever slept so long must find at least one of the two signs.
                self._io.deleteFile(stage.marker)
            with self._fail.step("forget"):
                self._io.deleteFile(stage.marker + _DEAD)

    def keep(self, stage: Stage) -> None:
        """Close a stage whose files were committed; what was moved aside meanwhile comes back."""
        self._move(self._list(stage.aside), stage.aside, stage.folder)
        self.close(stage)
        with clear_errors(self._table.name):
            self._io.deleteFile(stage.marker + BURIED)

    def discard(self, stage: Stage) -> None:
        """Delete the files of a stage that was not committed, and its marker."""
        with clear_errors(self._table.name):
            self._io.deletePrefix(stage.folder)
        self.close(stage)

    def discard_quietly(self, stage: Stage) -> None:
        """Discard after a failure whose own error is to be told; what is left, the marker tells."""
        with suppress(PortalError):
            self.discard(stage)

    def empty(self, stage: Stage) -> None:
        """Delete the files of a write that failed; the marker stays for what tasks may yet write.

        A job of Spark has failed while some of its tasks are still at work.
        """
        with suppress(PortalError), clear_errors(self._table.name):
            self._io.deletePrefix(stage.folder)

    def remove(self) -> tuple[int, int]:
        """Delete all that this run staged, with markers; returns how many files went and stayed.

        For a run that is over and whose commits are gone again: while any snapshot names a file of
        it, whoever made that, nothing of the run is deleted.
        """
        stages = [self._announced(name) for name in self._own()]
        found = {stage: len(self._list(stage.folder)) for stage in stages}
        n_files = sum(found.values())
        if n_files and self._names_any(f"/lakewarden/{self._of_run}"):
            return 0, n_files
        # Read by its name: what was found counts only if the name still means this table.
        self._table.again()
        for stage in found:
            self.discard(stage)
        return n_files, 0

    def sweep(
        self,
        *,
        silent: timedelta = SILENT,
        certain: timedelta = CERTAIN,
        kept: timedelta = KEPT,
    ) -> int:
        """Clean up after runs of this deployment that died; returns how many files were deleted.

        A stage that any snapshot names was committed: only its marker goes, and what was moved
        aside comes back.
        """
        now = datetime.now(UTC)
        marks = dict(self._left_behind())
        n_deleted = 0
        for name, written_at in marks.items():
            if name.endswith(BURIED):
                n_deleted += self._visit(name, is_over=now - written_at >= kept)
                continue
            if name.endswith(_DEAD):
                if name.removesuffix(_DEAD) not in marks and now - written_at >= certain:
                    self._forget(name)
                continue
            dead_at = marks.get(name + _DEAD)
            if now - written_at < silent:
                continue
            if dead_at is None:
                stage = self._stage(name)
                self._mark(stage.marker + _DEAD, stage.folder)
            elif now - dead_at >= certain:
                self._bury(self._announced(name))
        return n_deleted

    def _forget(self, name: str) -> None:
        """Take away what a death between the two deletions of `close` left."""
        with clear_errors(self._table.name):
            self._io.deleteFile(f"{self._markers}/{name}")

    def _bury(self, stage: Stage) -> None:
        """Move the files of a stage aside, unless they were committed before the death."""
        lying = self._list(stage.folder)
        if not (lying and self._is_committed(stage)):
            self._mark(stage.marker + BURIED, stage.folder)
            self._move(lying, stage.folder, stage.aside)
        self.close(stage)

    def _visit(self, name: str, *, is_over: bool) -> int:
        """Bring back what was committed after all, or delete it once its time is over."""
        stage = self._announced(name.removesuffix(BURIED), mark=BURIED)
        aside = self._list(stage.aside)
        if aside and self._is_committed(stage):
            self.keep(stage)
        elif is_over:
            with clear_errors(self._table.name):
                self._io.deletePrefix(stage.aside)
                self._io.deleteFile(stage.marker + BURIED)
            return len(aside)
        return 0

    def _move(self, files: Iterable[tuple[str, datetime]], source: str, target: str) -> None:
        """Rename files from one folder into another; the same again moves what is left."""
        jvm = self._table.jvm
        make = jvm.org.apache.hadoop.fs.Path
        conf = self._table.spark.sparkContext._jsc.hadoopConfiguration()
        with clear_errors(self._table.name):
            for path, _ in files:
                _, _, rest = path.rpartition(f"/{source.rpartition('/')[2]}/")
                to = make(f"{target}/{rest}")
                system = to.getFileSystem(conf)
                system.mkdirs(to.getParent())
                system.rename(make(path), to)

    def _stage(self, name: str) -> Stage:
        return Stage(f"{self._data}/{name}", f"{self._markers}/{name}")

    def _announced(self, name: str, *, mark: str = "") -> Stage:
        """Return a stage as its marker says: the table may write to another place by now."""
        stage, said = self._stage(name), ""
        # A marker that its writer's death cut short says nothing, and nothing was written then.
        with suppress(PortalError), clear_errors(self._table.name):
            stream = self._io.newInputFile(stage.marker + mark).newStream()
            said = bytes(stream.readAllBytes()).decode(errors="replace")
            stream.close()
        folder = said.partition("\n")[2].strip()
        is_of_stage = folder.endswith(f"/lakewarden/{name}")
        return Stage(folder, stage.marker) if is_of_stage else stage

    def _mark(self, path: str, folder: str) -> None:
        with clear_errors(self._table.name):
            stream = self._io.newOutputFile(path).createOrOverwrite()
            stream.write(f"{_MARK}\n{folder}\n".encode())
            stream.close()

    def _left_behind(self) -> Iterator[tuple[str, datetime]]:
        for path, written_at in self._list(self._markers):
            name = path.rpartition("/")[2]
            if name.startswith(self._of_table) and not name.startswith(self._of_run):
                yield name, written_at

    def _own(self) -> list[str]:
        names = (path.rpartition("/")[2] for path, _ in self._list(self._markers))
        return [
            name
            for name in names
            if name.startswith(self._of_run) and not name.endswith((_DEAD, BURIED))
        ]

    def _list(self, prefix: str) -> list[tuple[str, datetime]]:
        found = []
        try:
            with clear_errors(self._table.name):
                files = self._io.listPrefix(prefix).iterator()
                while files.hasNext():
                    info = files.next()
                    written = datetime.fromtimestamp(info.createdAtMillis() / 1000, UTC)
                    found.append((str(info.location()), written))
        except PortalError as error:
            if error.code != FILE_MISSING:
                raise
        return found

    def _is_committed(self, stage: Stage) -> bool:
        """Whether any snapshot of any branch names a file below the folder."""
        return self._names_any(stage.folder)

    def _names_any(self, part: str) -> bool:
        """Whether any snapshot of any branch names a data file whose path has the part."""
        with clear_errors(self._table.name):
            files = self._table.spark.table(f"{self._table.sql}.all_data_files")
            return not files.where(F.col("file_path").contains(part)).isEmpty()
