"""Rewrites one table: plans, picks, writes groups, commits some at a time, and retries once.

What another writer wins is planned again and tried once more, then given up; what is committed
stays (partial progress). A group that is lost already is not written, nor does it sink the others
of its commit. Every way out leaves only committed files, or a marker that tells of the rest.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeAlias

from optimizer.core.jobs.stops import STOPS, check_stop
from optimizer.iceberg.access.jobs.errors import CONFLICT, ENDS_THE_TASK, FILE_MISSING
from optimizer.iceberg.access.jobs.executor import TaskExecutor
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.rewrite.jobs.bin_packing import BinPacking, Group, pick
from optimizer.iceberg.rewrite.jobs.conflict_check import ConflictChecker
from optimizer.iceberg.rewrite.jobs.planning import Plan, PlannedPartition, plan_files
from optimizer.iceberg.rewrite.jobs.replace import discard, replace
from optimizer.iceberg.rewrite.jobs.rewrite_group import Staged, Wanted, stage_group
from optimizer.iceberg.rewrite.jobs.row_ordering import Arrangement, arrangement_of
from optimizer.iceberg.rewrite.jobs.staging import StagingArea
from portal.lake.errors import PortalError

# Groups written at the same time: one alone leaves a cluster idle at its end.
_AT_ONCE = 4

Choice: TypeAlias = tuple[PlannedPartition, Group]


@dataclass
class Attempt:
    """One plan being carried out; `lost` are partitions that are worth another one."""

    plan: Plan
    area: StagingArea
    meanwhile: ConflictChecker
    may_try_again: bool
    lost: set[str] = field(default_factory=set)


@dataclass
class TableWork(TaskExecutor):
    """A rewrite of data files."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.arrange: Arrangement | None = None

    def work(self, table: IcebergTable) -> None:
        """Write the groups again, and commit some of them at a time."""
        area = self._area(table)
        self._sweep(area)
        self._rewrite(table, area)

    def _sweep(self, area: StagingArea) -> None:
        """Clean up after the dead; that it fails is told, and the work goes on."""
        try:
            n_swept = area.sweep()
        except PortalError as error:
            if error.code in ENDS_THE_TASK:
                raise
            self.result.notes.append(
                f"Files of a run that had died could not be removed: {error.message}"
            )
            return
        if n_swept:
            self.result.notes.append(f"{n_swept} files of a run that had died were removed.")

    def _area(self, table: IcebergTable) -> StagingArea:
        run = f"{self.job.run}-{self.job.epoch}"
        deployment = self.job.config.deployment_id
        return StagingArea(table, deployment=deployment, run=run, fail=self.fail)

    def _rewrite(self, table: IcebergTable, area: StagingArea) -> None:
        partitions = self.order.partitions
        for may_try_again in (True, False):
            plan = plan_files(table, partitions=partitions, laid_out_by=self.order.write_ids)
            meanwhile = ConflictChecker(plan, run=self.job.run)
            attempt = Attempt(plan, area, meanwhile, may_try_again=may_try_again)
            batches = self._batches(plan)
            if batches and self.order.layout and self.arrange is None:
                self.arrange = self._arrangement(table)
            for batch in batches:
                self._commit(attempt, batch)
            if not attempt.lost:
                return
            partitions, table = frozenset(attempt.lost), table.again()

    def _arrangement(self, table: IcebergTable) -> Arrangement:
        """Say how rows shall lie; without boundaries of before that samples the whole table."""
        found = arrangement_of(
            table,
            self.order.layout,
            stored=self.order.boundaries,
            target_bytes=self.order.target_bytes,
            joins=self.order.joins,
        )
        self.result.boundaries = found.boundaries.as_dict()
        return found

    def _batches(self, plan: Plan) -> list[list[Choice]]:
        """Return the groups of each commit; there are at most `max_commits`."""
        chosen = [
            (partition, group)
            for partition in plan.partitions
            for group in pick(partition.files, BinPacking.of(self.order))
        ]
        size = max(1, -(-len(chosen) // self.order.max_commits))
        return [chosen[start : start + size] for start in range(0, len(chosen), size)]

    def _commit(self, attempt: Attempt, batch: Sequence[Choice]) -> None:
        """Write and commit some groups."""
        conflicts: list[PortalError] = []
        staged = self._stage(attempt, batch, conflicts)
        try:
            if staged:
                with self.fail.step("commit"):
                    told = replace(
                        attempt.plan, staged, signature=self.signature, area=attempt.area
                    )
                self.result.commits.append(told)
        except PortalError as error:
            conflicts += [error] if error.code == CONFLICT else []
            self._put_off(error, {one.partition for one in staged}, attempt)
        finally:
            self.result.conflicts += bool(conflicts)

    def _stage(
        self, attempt: Attempt, batch: Sequence[Choice], conflicts: list[PortalError]
    ) -> list[Staged]:
        """Write groups; one that others have made useless is left out, so that the rest goes on."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            futures = [pool.submit(self._write, attempt, choice) for choice in batch]
        staged: list[Staged] = []
        try:
            check_stop(self.job, self.order.task)
            if any(future.exception() is None for future in futures):
                attempt.meanwhile.look()
            for future, choice in zip(futures, batch, strict=True):
                try:
                    staged += self._kept(attempt, future.result(), choice)
                except PortalError as error:
                    conflicts += [error] if error.code == CONFLICT else []
                    self._put_off(error, {choice[0].partition}, attempt)
        except BaseException:
            written = [one for f in futures if f.exception() is None for one in f.result()]
            discard(written, attempt.area)
            raise
        return staged

    def _kept(self, attempt: Attempt, staged: list[Staged], choice: Choice) -> list[Staged]:
        """Return what was written of a group, unless others have changed its files meanwhile."""
        try:
            attempt.meanwhile.check(*choice)
        except PortalError:
            discard(staged, attempt.area)
            raise
        return staged

    def _write(self, attempt: Attempt, choice: Choice) -> list[Staged]:
        """Write one group, unless cancelled; none is given where it turned out to win nothing."""
        check_stop(self.job, self.order.task)
        attempt.meanwhile.look()
        attempt.meanwhile.check(*choice)
        partition, group = choice
        order, area = self.order, attempt.area
        spec_id = attempt.plan.table.spec_for_new(partition.spec_id)
        wanted = Wanted(order.target_bytes, spec_id, arrange=self.arrange)
        with self.fail.step("write"):
            staged = stage_group(attempt.plan, partition, group, wanted=wanted, area=area)
        if self.arrange is not None or staged.wins(order.target_bytes):
            return [staged]
        discard([staged], area)
        return []

    def _put_off(self, error: PortalError, partitions: set[str], attempt: Attempt) -> None:
        """Plan some partitions again if that may help; if not, the error is kept, or ends the task.

        Raises:
            PortalError: the same, where further groups make no sense.
        """
        if error.code in STOPS | ENDS_THE_TASK:
            raise error
        # A file that is missing may just have expired since the plan.
        if attempt.may_try_again and error.code in {CONFLICT, FILE_MISSING}:
            attempt.lost |= partitions
        else:
            self.result.errors.append(error)
