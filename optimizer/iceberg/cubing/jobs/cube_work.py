"""The task CUBE: brings the cubes of a table up to its snapshot.

One cube that cannot be built stops no other. Rewrites call `cover_new_files` at their end.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from optimizer.core.domain.tasks import REWRITES
from optimizer.core.jobs.stops import STOPS, check_stop
from optimizer.cubes.domain.coverage import Coverage, CoveredFile
from optimizer.cubes.domain.definition import parse
from optimizer.cubes.domain.partitions import partitions_of
from optimizer.cubes.domain.upkeep import Merge, View, composed, mergeable
from optimizer.iceberg.access.jobs.commits import told
from optimizer.iceberg.access.jobs.executor import TaskExecutor
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.cubing.jobs.build import CubeBuild, batches, build_batch
from optimizer.iceberg.cubing.jobs.joined_tables import check_keys, joined_now, wrong_units
from optimizer.iceberg.cubing.jobs.rewrites import replacements_since
from optimizer.iceberg.cubing.jobs.sources import find_sources
from optimizer.iceberg.cubing.jobs.store import CubeStore
from optimizer.iceberg.cubing.jobs.table_files import TableFile, table_files
from optimizer.iceberg.cubing.jobs.tidying import tidy
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow
from portal.lake.counts import count_words
from portal.lake.errors import PortalError

_NAMED = 3


def cover_new_files(rewrite: TaskExecutor) -> None:
    """Bring cubes up to what a rewrite has just written, in the same run.

    The rewrite is done whatever comes of it: a failure is a note, and the next CUBE goes on.

    Raises:
        StaleState: `run.cancelled` or `task.cancelled`.
    """
    order, result = rewrite.order, rewrite.result
    if order.kind not in REWRITES or not order.cubes or not result.commits:
        return
    work = CubeWork(rewrite.job, order)
    try:
        work.run()
    except PortalError as error:
        if error.code in STOPS:
            raise
        result.notes.append(f"The cubes could not be kept: {error.message}")
        return
    result.cubes, result.cube_problems = work.result.cubes, work.result.cube_problems
    result.notes += [*work.result.notes, *(error.message for error in work.result.errors)]


class CubeWork(TaskExecutor):
    """Cubes of a table."""

    def work(self, table: IcebergTable) -> None:
        """Merge, build, and tidy every cube of the order."""
        use_arrow(table.spark)
        files = table_files(table)
        live = [one.covered for one in files]
        builds, started = [], time.monotonic()
        for definition in self.order.cubes:
            check_stop(self.job, self.order.task)
            try:
                builds.append(self._begun(table, definition, files, live))
            except PortalError as error:
                self._failed(error, str(definition.get("name")))
        lacks = [self._lacking(build, files) for build in builds]
        self._build(builds, files, lacks)
        for build in builds:
            try:
                self._end(build, files, seconds=time.monotonic() - started)
            except PortalError as error:
                self._failed(error, build.definition.name)

    def _begun(
        self,
        table: IcebergTable,
        definition: Mapping[str, Any],
        files: Sequence[TableFile],
        live: Sequence[CoveredFile],
    ) -> CubeBuild:
        """Return a cube whose wrong units went, and whose units were merged after rewrites."""
        sources = find_sources(table, parse(definition))
        store = CubeStore(table, sources.definition, fail=self.fail)
        store.prepare()
        coverage = store.read(store.open())
        check_keys(sources, coverage.joined if coverage is not None else {})
        view = View(
            sources.definition.definition_version,
            table.uuid,
            table.snapshot_id,
            live,
            joined_now(sources),
            coverage.joined if coverage is not None else {},
        )
        build = CubeBuild(sources, store, view)
        if coverage is None:
            return build
        wrong = wrong_units(sources, coverage, files)
        merges = _merges(table, coverage, live, wrong)
        if wrong or not merges:
            coverage = store.publish(lambda now: composed(now, view, drop=wrong))
            build.progress.n_units_gone += len(wrong)
        if merges:
            build.merge(coverage, merges)
        return build

    def _lacking(self, build: CubeBuild, files: Sequence[TableFile]) -> set[TableFile]:
        coverage = build.store.read(build.store.open())
        if coverage is None:
            return set(files)
        covered = {coverage.files[n] for unit in coverage.units for n in unit.files}
        return {one for one in files if one.covered not in covered}

    def _build(
        self,
        builds: list[CubeBuild],
        files: Sequence[TableFile],
        lacks: Sequence[set[TableFile]],
    ) -> None:
        wanted = [one for one in files if any(one in lack for lack in lacks)]
        failed: set[int] = set()
        done = 0
        for batch in batches(wanted):
            check_stop(self.job, self.order.task)
            self.job.progress("cubes", done, len(wanted), f"{self.order.db}.{self.order.table}")
            done += len(batch)
            mine = [
                n
                for n, lack in enumerate(lacks)
                if n not in failed and any(one in lack for one in batch)
            ]
            if not mine:
                continue
            try:
                build_batch([builds[n] for n in mine], batch, [lacks[n] for n in mine])
            except PortalError as error:
                if len(mine) == 1:
                    failed.add(mine[0])
                    self._failed(error, builds[mine[0]].definition.name)
                    continue
                self._one_by_one(builds, mine, batch, lacks, failed)

    def _one_by_one(
        self,
        builds: list[CubeBuild],
        mine: Sequence[int],
        batch: Sequence[TableFile],
        lacks: Sequence[set[TableFile]],
        failed: set[int],
    ) -> None:
        """Build a batch for each cube on its own, after one of them failed."""
        for n in mine:
            lack = self._lacking(builds[n], batch) & lacks[n]
            try:
                build_batch([builds[n]], batch, [lack])
            except PortalError as error:
                failed.add(n)
                self._failed(error, builds[n].definition.name)

    def _end(self, build: CubeBuild, files: Sequence[TableFile], *, seconds: float) -> None:
        store, progress = build.store, build.progress
        coverage = store.read(store.open())
        if coverage is not None:
            coverage = tidy(build, coverage)
            store.name_in_fact()
        self.result.cubes.append(_row(build, coverage, files, seconds))
        self.result.notes += store.notes
        name = build.definition.name
        if progress.n_units_built or progress.n_units_merged or progress.n_units_gone:
            snapshot = store.open().snapshot
            if snapshot is not None:
                self.result.commits.append(told(snapshot))
            self.result.notes.append(
                f"Cube {name}: {count_words(progress.n_units_built, 'unit')} built, "
                f"{progress.n_units_merged:,} merged, {progress.n_units_gone:,} removed."
            )
        for location, reason in list(progress.refused.items())[:_NAMED]:
            self.result.notes.append(f"Cube {name} does not cover {location}: {reason}.")

    def _failed(self, error: PortalError, name: str) -> None:
        if error.code in STOPS:
            raise error
        self.result.cube_problems[name] = error.message
        self.result.errors.append(error)
        self.job.log(f"{self.order.db}.{self.order.table}: {error.code}: {error.message}")


def _merges(
    table: IcebergTable,
    coverage: Coverage,
    live: Sequence[CoveredFile],
    wrong: Sequence[int],
) -> list[Merge]:
    """Return what can be merged after rewrites since the coverage was published."""
    found = mergeable(coverage, replacements_since(table, coverage.snapshot_id))
    there, covered = set(live), set(coverage.files)
    return [
        one
        for one in found
        if not {*one.sources} & {*wrong}
        and all(file in there and file not in covered for file in one.files)
    ]


def _row(
    build: CubeBuild, coverage: Coverage | None, files: Sequence[TableFile], seconds: float
) -> dict[str, Any]:
    """Return what the portal keeps of a cube after a run."""
    table = build.store.open()
    summary = dict(table.snapshot.summary()) if table.snapshot is not None else {}
    progress = build.progress
    at = coverage.at_snapshot if coverage is not None else None
    n_rows = sum(one.covered.records for one in files)
    live = [unit for unit in coverage.units if unit.is_live] if coverage is not None else []
    covered = {coverage.files[n] for unit in live for n in unit.files} if coverage else set()
    by_partition = [(one.partition.partition("/")[2], one.covered) for one in files]
    return {
        "name": build.definition.name,
        "version": build.definition.definition_version,
        "snapshot_id": build.view.snapshot_id,
        "cube_uuid": table.uuid,
        "cube_snapshot_id": coverage.cube_snapshot_id if coverage is not None else None,
        "n_files": len(files),
        "n_covered": len(files) - (at.uncovered_files if at is not None else len(files)),
        "n_rows": n_rows,
        "n_rows_covered": at.covered_rows if at is not None else 0,
        "n_units": len(coverage.units) if coverage is not None else 0,
        "n_cube_rows": int(summary.get("total-records") or 0),
        "n_bytes": int(summary.get("total-files-size") or 0),
        "n_files_read": progress.n_files_read,
        "n_rows_read": progress.n_rows_read,
        "n_units_built": progress.n_units_built,
        "n_units_merged": progress.n_units_merged,
        "n_units_gone": progress.n_units_gone,
        "partitions": [
            asdict(one) for one in partitions_of(by_partition, covered, progress.refused)
        ],
        "refused": list(progress.refused.items())[:100],
        "n_refused": len(progress.refused),
        "seconds": round(seconds, 3),
        "dimensions": [
            {
                "alias": one.alias,
                "table": one.table,
                "uuid": one.uuid,
                "snapshot_ids": list(coverage.joined[one.alias].snapshot_ids) if coverage else [],
            }
            for one in build.definition.joins
        ],
    }
