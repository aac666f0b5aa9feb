"""Shared parts of acting jobs: lifecycle's rules, and a driver's tools behind its fence.

Executors list; the driver alone renames and drops. The JVM is asked whether it lives before every
step that acts, and on HDFS whether a file is still open.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from lifecycle.backup.domain.control import ControlReader
from lifecycle.backup.engine.facts import WALKERS, Lister, Policy, list_here
from lifecycle.backup.engine.protocol import Tools
from lifecycle.core.domain.enrollment import read_policy
from lifecycle.planning.jobs.hdfs_barriers import barrier_check
from lifecycle.planning.jobs.hdfs_writer import with_quick_writes
from lifecycle.planning.jobs.live_metastore import LiveMetastore
from portal.connectors.filesystem import FileStatus, FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import DataSafetyError, NotVisible, PortalError, RuleViolation
from portal.lake.formats import Unsupported, judge_table, registered_location
from portal.lake.paths import LakePath
from portal.lake.readiness import is_ready
from portal.safety.failpoints import Failpoints
from portal.safety.fence import Fence
from portal.spark.job import JobContext
from portal.spark.masters.executors import can_log_in

# Below so many paths, or so many entries in all of them, a Spark job costs more than the driver's
# own listing. The moment between a batch's first rename and its drop holds such a listing.
_SPREAD_PATHS = 8
_SPREAD_FROM = 1_000


class LifecycleRules:
    """The lifecycle room's rules, read from fresh metastore structures.

    `outside` names the databases that cannot be acted in at all, with why. `live` judges by the
    whole metastore as it is now; an acting job always has it.
    """

    def __init__(
        self,
        config: LakeConfig,
        *,
        outside: Mapping[str, str] | None = None,
        live: LiveMetastore | None = None,
    ) -> None:
        self._config = config
        self._outside = outside or {}
        self._live = live

    def refresh(self) -> None:
        """Read again what changed in the metastore since the last call."""
        if self._live is not None:
            self._live.refresh()

    def refusal(self, table: Any) -> str | None:
        """Say why a table must not be acted on: its database, format, policy, path or owner."""
        if table.dbName in self._outside:
            return self._outside[table.dbName]
        found = judge_table(table)
        if isinstance(found, Unsupported):
            return found.reason
        return self._policy_refusal(table) or self._live_refusal(table)

    def neighbour(self, table: Any, partition: str, location: LakePath) -> str | None:
        """Say who else has data in the place of an item, or which path rule it breaks now."""
        return None

    def read_refusal(self, table: Any, partition: str, files: Sequence[FileStatus]) -> str | None:
        """Where data only moves, it does not matter who reads it."""
        return None

    def _live_refusal(self, table: Any) -> str | None:
        if self._live is None:
            return None
        return self._live.table_refusal(table.dbName, table.tableName)

    def _policy_refusal(self, table: Any) -> str | None:
        policy = read_policy(table.parameters or {})
        if not policy.enrolled:
            return policy.problem or "not enrolled any more"
        return "LEVEL is 0 now: keep for ever" if policy.keeps_forever else None

    def policy(self, table: Any) -> Policy:
        """Read LEVEL and TTL as they stand now."""
        found = read_policy(table.parameters or {})
        return Policy(found.level, found.ttl)

    def location(self, table: Any, partition: Any | None) -> LakePath | None:
        """Return the effective location; one that is no canonical path is none."""
        text = registered_location(table, partition)
        return self.read(text) if text else None

    def read(self, text: str) -> LakePath | None:
        """Read a registered location; None where it is no canonical path."""
        try:
            return self._config.path(text)
        except RuleViolation:
            return None

    def is_ready(self, partition: Any) -> bool:
        """Whether a partition's data is complete."""
        return is_ready(partition.parameters or {})


def approved_rows(
    job: JobContext, *, digest: Callable[[str], str] = lambda items_sha256: items_sha256
) -> list[dict[str, Any]]:
    """Read the items file and prove that it is the approved one.

    `digest` computes what was approved from the file's sha256; by default that is the sha256.

    Raises:
        DataSafetyError: `act.digest`, it is not what was approved.
    """
    path = job.config.path(job.params["items"])
    data = open_file_system(path, config=job.config).read(path)
    found = hashlib.sha256(data).hexdigest()
    if found != job.params["items_sha256"] or digest(found) != job.params["digest"]:
        raise DataSafetyError(
            "act.digest",
            "The plan's item file is not the one that was approved. Nothing was done; find out who "
            "changed it.",
            path=path,
        )
    return [json.loads(line) for line in data.splitlines() if line]


def acting_tools(
    job: JobContext, fs: FileSystem, fence: LakePath, *, metastore: Metastore
) -> Tools:
    """Return a driver's tools behind one fence."""
    fs = with_quick_writes(job, fs, fence)
    return Tools(
        fs=fs,
        metastore=metastore,
        fence=Fence(fs, fence, clock=wall_clock),
        lister=spread_lister(job, fs),
        control=ControlReader(lambda: job.control(fresh=True), job.spool.read_part),
        clock=wall_clock,
        fail=Failpoints.from_environment(),
        alive=job.check_jvm,
        is_closed=closed_check(job, fence),
        barrier=barrier_check(job, fence),
    )


def wall_clock() -> datetime:
    """Return the instant: leases and journals are about now, whatever day a demo plays."""
    return datetime.now(UTC)


def spread_lister(job: JobContext, fs: FileSystem) -> Lister:
    """Return a lister that lets executors walk where much lies, and the driver elsewhere.

    The driver walks alone where executors could not log in.
    """
    here = list_here(fs)
    if not can_log_in(job.config):
        return here
    config = job.config.as_dict()

    def lister(paths: Sequence[LakePath]) -> dict[LakePath, list[FileStatus]]:
        if len(paths) < _SPREAD_PATHS or _n_names(fs, paths) < _SPREAD_FROM:
            return here(paths)
        n_slices = min(len(paths), 4 * job.spark.sparkContext.defaultParallelism)
        found = (
            job.spark.sparkContext.parallelize([str(path) for path in paths], n_slices)
            .map(lambda text: (text, _walk(config, text)))
            .collect()
        )
        for _, seen in found:
            if isinstance(seen, PortalError):
                raise seen
        return {LakePath.parse(text): seen for text, seen in found if isinstance(seen, list)}

    return lister


def _n_names(fs: FileSystem, paths: Sequence[LakePath]) -> int:
    """Count what lies directly in these directories: one call each, where a walk asks every file.

    What cannot be listed counts as nothing; the walk says why.
    """

    def n_names(path: LakePath) -> int:
        try:
            return len(fs.names(path))
        except PortalError:
            return 0

    with ThreadPoolExecutor(min(WALKERS, len(paths))) as pool:
        return sum(pool.map(n_names, paths))


def _walk(config: dict[str, Any], text: str) -> list[FileStatus] | PortalError | None:
    """Walk one path in an executor; what it was refused comes back as it is, not as Spark's."""
    lake, path = LakeConfig.from_dict(config), LakePath.parse(text)
    try:
        return list(open_file_system(path, config=lake).walk(path))
    except NotVisible:
        return None
    except PortalError as error:
        return error


def closed_check(job: JobContext, somewhere: LakePath) -> Callable[[LakePath], bool | None]:
    """Give a check for open writers: the JVM's on HDFS; elsewhere there is none, and we say so."""
    if somewhere.scheme != "hdfs":
        job.log(f"{somewhere.scheme}: files have no check for open writers; staging names are seen")
        return lambda _path: None
    jvm: Any = job.spark.sparkContext._jvm
    hadoop: Any = job.spark.sparkContext._jsc.hadoopConfiguration()
    make = jvm.org.apache.hadoop.fs.Path
    system = make(str(somewhere)).getFileSystem(hadoop)

    def is_closed(path: LakePath) -> bool | None:
        return bool(system.isFileClosed(make(str(path))))

    return is_closed
