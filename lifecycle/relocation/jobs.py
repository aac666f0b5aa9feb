"""Move the items of an approved relocation plan to their places.

`run(spark, job)` drives the moves.

The items file is hashed again and must be the one that two people approved; whatever changed since
is skipped and reported. An undo is the same with the places the other way round.
"""

from collections.abc import Iterable
from typing import Any

from pyspark.sql import SparkSession

from lifecycle.backup.engine.files.backup_root import check_marker, preflight
from lifecycle.backup.engine.move.items import MoveOrder, move_items
from lifecycle.backup.engine.move.records import MoveItem
from lifecycle.planning.jobs.acting import LifecycleRules, acting_tools, approved_rows
from lifecycle.planning.jobs.live_metastore import LiveMetastore
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotVisible
from portal.lake.paths import LakePath
from portal.lake.places import Holder, Neighbours
from portal.spark.job import JobContext


class PlaceRules(LifecycleRules):
    """The room's rules for moving; LEVEL and TTL play no part, where a thing lies does.

    `homes` are the databases' locations; without `must_conform` (an undo) the old place will do.
    """

    def __init__(
        self,
        config: LakeConfig,
        *,
        homes: dict[str, LakePath | None],
        closed: frozenset[LakePath] = frozenset(),
        must_conform: bool = True,
        live: LiveMetastore | None = None,
        moves: "Moves | None" = None,
    ) -> None:
        super().__init__(config, live=live)
        self._homes = homes
        self._closed = closed
        self._must_conform = must_conform
        self._moves = moves

    def neighbour(self, table: Any, partition: str, location: LakePath) -> str | None:
        """Say who else has data in the old place of an item, or in or above its new one."""
        if self._moves is None:
            return None
        return self._moves.neighbour(Holder(table.dbName, table.tableName, partition), location)

    def _live_refusal(self, table: Any) -> str | None:
        """What lies in a wrong place is moved; its owner must be the one of whom the plan knew."""
        if self._live is None:
            return None
        return self._live.owner_refusal(table.dbName, table.tableName)

    def _policy_refusal(self, table: Any) -> str | None:
        return None

    def place_refusal(self, table: Any, item: MoveItem) -> str | None:
        """Say why an item must not be moved: a directory closed to us, or a place that moved on."""
        source, target = LakePath.parse(item.source), LakePath.parse(item.target)
        for directory in (source.parent, target.parent):
            if directory in self._closed:
                return f"{directory} is not in a backup root's rename domain, or not writable"
        if not self._must_conform:
            return None
        home = self.location(table, None) if item.partition else self._homes.get(item.db)
        if home is None or target == home or not target.is_at_or_under(home):
            above = "table" if item.partition else "database"
            return f"its {above} is elsewhere now: {target} would not be below it"
        return self._conformity_refusal(item, target)

    def _conformity_refusal(self, item: MoveItem, target: LakePath) -> str | None:
        if self._live is None:
            return None
        if item.partition:
            return self._live.rules.refusal(item.db, item.table)
        return self._live.rules.target_refusal(item.db, item.table, target)


class Moves:
    """The old and new places of a plan, compared with everything registered.

    A table's own partitions move with it, and a partition lies below its own table. Of an undo the
    new place was its place before, whoever lies above it.
    """

    def __init__(self, items: Iterable[MoveItem], config: LakeConfig, *, is_undo: bool) -> None:
        moves = [
            (
                Holder(one.db, one.table, one.partition),
                LakePath.parse(one.source),
                LakePath.parse(one.target),
            )
            for one in items
        ]
        self._targets = {holder: target for holder, _, target in moves}
        self._old: Neighbours[Holder] = Neighbours(
            ((holder, source) for holder, source, _ in moves),
            read=config.path,
            is_own=lambda seen, own: seen == own or seen.is_part_of(own),
        )
        self._new: Neighbours[Holder] = Neighbours(
            self._targets.items(),
            read=config.path,
            is_own=lambda seen, own: seen == own or own.is_part_of(seen),
            is_above=None if is_undo else lambda seen: bool(seen.table),
        )

    @property
    def neighbours(self) -> tuple[Neighbours[Holder], Neighbours[Holder]]:
        """What is to be shown every registered location."""
        return self._old, self._new

    def neighbour(self, holder: Holder, source: LakePath) -> str | None:
        """Say who else is in the way of a move, or None."""
        if seen := self._old.inside(source):
            return f"{seen.holder} has its data there, too, at {seen.location}"
        target = self._targets.get(holder)
        if target is None:
            return "the plan names no place for it"
        if seen := self._new.inside(target):
            return f"its new place is taken: {seen.holder} is at {seen.location}"
        if seen := self._new.above(target):
            return f"its new place is in that of {seen.holder}, {seen.location}"
        return None


def run(_spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Move what the plan names; gives counts and what was left out, with reasons."""
    params = job.params
    fence, root = job.config.path(params["fence"]), job.config.path(params["root"])
    fs = open_file_system(fence, config=job.config)
    check_marker(fs, root, deployment_id=job.config.deployment_id)
    items = [MoveItem.read(_spelled(row, job.config)) for row in approved_rows(job)]
    order = MoveOrder(
        run=job.run,
        epoch=job.epoch,
        lake=job.config.lake,
        plan=params["plan"],
        digest=params["digest"],
        fence=fence,
    )
    moves = Moves(items, job.config, is_undo=bool(params["undo"]))
    ends = (LakePath.parse(end) for one in items for end in (one.source, one.target))
    with Metastore.connect(job.config) as metastore:
        rules = PlaceRules(
            job.config,
            live=LiveMetastore(job, metastore, neighbours=moves.neighbours, places=ends),
            moves=moves,
            homes=_homes(items, job.config, metastore=metastore),
            closed=_closed(items, fs, root=root, tag=f"{job.run}-{job.epoch}"),
            must_conform=not params["undo"],
        )
        result = move_items(
            order,
            items,
            rules=rules,
            tools=acting_tools(job, fs, fence, metastore=metastore),
            report=lambda done, message: job.progress("move", done, len(items), message),
        )
    return {**result.as_dict(), "n_items": len(items)}


def _spelled(row: dict[str, Any], config: LakeConfig) -> dict[str, Any]:
    return {**row, **{end: str(config.path(row[end])) for end in ("source", "target")}}


def _homes(
    items: Iterable[MoveItem], config: LakeConfig, *, metastore: Metastore
) -> dict[str, LakePath | None]:
    rules = LifecycleRules(config)
    homes: dict[str, LakePath | None] = {}
    for db in dict.fromkeys(item.db for item in items):
        try:
            homes[db] = rules.read(metastore.database(db).locationUri)
        except NotVisible:
            homes[db] = None
    return homes


def _closed(
    items: Iterable[MoveItem], fs: FileSystem, *, root: LakePath, tag: str
) -> frozenset[LakePath]:
    """Prove mkdir and rename both ways where something leaves or arrives; returns what failed."""
    ends = (LakePath.parse(end) for item in items for end in (item.source, item.target))
    directories = [end.parent for end in ends if end.same_file_system(root)]
    return frozenset(preflight(fs, root, directories, tag=tag))
