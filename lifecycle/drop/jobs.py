"""Back up and drop the items of an approved plan: `run(spark, job)` drives the act protocol.

The items file is hashed again and must be the one that two people approved; whatever changed since
is skipped and reported, never silently in.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from pyspark.sql import SparkSession

from lifecycle.backup.domain.layout import Day
from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.facts import ActItem, was_read_since
from lifecycle.backup.engine.files.backup_root import check_marker, preflight
from lifecycle.backup.engine.protocol import DropOrder
from lifecycle.backup.jobs.papers import leave_program
from lifecycle.drop.domain.plan import days_kept, plan_digest
from lifecycle.drop.domain.refusal import Name, Names
from lifecycle.planning.jobs.acting import LifecycleRules, acting_tools, approved_rows
from lifecycle.planning.jobs.hdfs_barriers import barrier_check
from lifecycle.planning.jobs.live_metastore import LiveMetastore
from portal.connectors.filesystem import FileStatus, FileSystem, open_file_system
from portal.connectors.metastore import Metastore
from portal.connectors.name_services.crossing import crossing
from portal.lake.errors import NotVisible, RuleViolation
from portal.lake.paths import LakePath
from portal.lake.places import Holder, Neighbours
from portal.spark.job import JobContext


class DropRules(LifecycleRules):
    """The room's rules for dropping, by the metastore as it is now."""

    def __init__(
        self, job: JobContext, metastore: Metastore, items: Iterable[ActItem], *,
        outside: Mapping[str, str],
    ) -> None:  # fmt: skip
        places = [
            (Holder(one.db, one.table, one.partition), job.config.path(one.location))
            for one in items
        ]
        self._neighbours = Neighbours(places, read=job.config.path)
        self._here = LiveMetastore(
            job, metastore, neighbours=[self._neighbours], places=(place for _, place in places)
        )
        super().__init__(job.config, outside=outside, live=self._here)
        self._scanned_ms = int(datetime.fromisoformat(job.params["scanned_at"]).timestamp() * 1000)
        self._yes = Names.of(Name(*one) for one in job.params["may_be_read"])

    def neighbour(self, table: Any, partition: str, location: LakePath) -> str | None:
        """Say who else has data in the place of an item, or which path rule it breaks now."""
        seen = self._neighbours.inside(location)
        if seen is not None:
            return f"{seen.holder} has its data there, too, at {seen.location}"
        if not partition:
            return None
        return self._here.rules.partition_refusal(table.dbName, table.tableName, location)

    def read_refusal(self, table: Any, partition: str, files: Sequence[FileStatus]) -> str | None:
        """Say that an item was read since the plan's scan and its owner has not said yes."""
        read_ms = was_read_since(files, self._scanned_ms)
        if read_ms is None or self._yes.cover(Name(table.dbName, table.tableName, partition)):
            return None
        at = datetime.fromtimestamp(read_ms / 1000, tz=UTC)
        return (
            f"it was read after the scan, at {at:%Y-%m-%d %H:%M} UTC, and its owner has not "
            "consented "
            "to its deletion"
        )


def run(_spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Drop what the plan names; gives counts and what was left out, with reasons."""
    params = job.params
    fence, root = job.config.path(params["fence"]), job.config.path(params["root"])
    fs = open_file_system(fence, config=job.config)
    check_marker(fs, root, deployment_id=job.config.deployment_id)
    items = approved_items(job)
    total = len(items)
    home = Day(root, date.fromisoformat(params["approved_day"])).sealed(job.run, job.epoch)
    leave_program(fs, fence, backup=home, metastore=job.config.metastore_uri)
    order = DropOrder(
        run=job.run,
        epoch=job.epoch,
        lake=job.config.lake,
        plan=params["plan"],
        digest=params["digest"],
        fence=fence,
        keep_days=_keep_days(job),
    )
    with Metastore.connect(job.config) as metastore:
        outside = _outside(job, items, fs=fs, metastore=metastore, root=root)
        result = drop_items(
            order,
            items,
            rules=DropRules(job, metastore, items, outside=outside),
            tools=acting_tools(job, fs, fence, metastore=metastore),
            report=lambda done, message: job.progress("drop", done, total, message),
        )
    return {**result.as_dict(), "n_items": total}


def approved_items(job: JobContext) -> list[ActItem]:
    """Read the items of the approved file, their locations as this lake spells them."""
    return [
        ActItem.read({**row, "location": str(job.config.path(row["location"]))})
        for row in approved_rows(job, digest=_approved_digest(job))
    ]


def _approved_digest(job: JobContext) -> Callable[[str], str]:
    """Return how the approved digest comes from the items' sha256, the root and the days kept."""
    terms = {"backup_root": job.params["root"], "keep_days": job.params["approved_keep_days"]}
    return lambda items_sha256: plan_digest(items_sha256, **terms)


def _keep_days(job: JobContext) -> dict[str, int]:
    """Return for how long backups are kept: as approved, or longer where that was set since."""
    return days_kept(job.params["approved_keep_days"], job.params["keep_days"])


def _outside(
    job: JobContext,
    items: list[ActItem],
    *,
    fs: FileSystem,
    metastore: Metastore,
    root: LakePath,
) -> dict[str, str]:
    """Prove mkdir and rename both ways for each database; returns those that failed, with why."""
    homes: dict[str, LakePath] = {}
    outside: dict[str, str] = {}
    for db in dict.fromkeys(item.db for item in items):
        try:
            homes[db] = job.config.path(metastore.database(db).locationUri)
        except (NotVisible, RuleViolation) as error:
            outside[db] = f"its database cannot be acted in: {error.message}"
    near = {db: home for db, home in homes.items() if home.same_file_system(root)}
    refused = preflight(fs, root, near.values(), tag=f"{job.run}-{job.epoch}")
    barrier = barrier_check(job, root)
    for db, home in homes.items():
        if db not in near or home in refused:
            reason = (barrier(home) or refused[home]) if db in near else crossing(home, root)
            outside[db] = (
                "its database's directory is not in a backup root's rename domain, or not writable"
            ) + (f": {reason}" if reason else "")
    return outside
