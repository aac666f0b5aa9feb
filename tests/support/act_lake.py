"""A small lake made straight through Thrift and the file system, for tests of acting on data.

Every object is a little odd: modes, ACLs, old times, parameters, nested directories, empty files.
"""

import getpass
import json
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.domain.control import Control
from lifecycle.backup.domain.layout import BackupRef, Day
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.facts import ActItem, Policy, generation_of, list_here
from lifecycle.backup.engine.files.backup_root import ensure_root
from lifecycle.backup.engine.journal.reading import (
    DirectoryNames,
    JournalBatch,
    batch_numbers,
    batches,
)
from lifecycle.backup.engine.journal.records import FileFact, files_of
from lifecycle.backup.engine.metastore.registry import partition_name
from lifecycle.backup.engine.protocol import ActResult, DropOrder, DropResult, Tools
from lifecycle.backup.engine.purge.probes import ProbeResult, probe_batch
from lifecycle.backup.engine.restore.batches import restore_batches
from lifecycle.backup.engine.restore.order import BackupBatchRef, NewName, RestoreOrder
from lifecycle.backup.engine.settle.batches import SettleTools, make_parents, settle_directory
from lifecycle.backup.engine.settle.restores import settle_restores
from portal.connectors.filesystem import FileStatus, FileSystem, open_file_system
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.names import PartitionName, TableName
from portal.lake.paths import LakePath
from portal.lake.readiness import is_ready
from portal.safety.failpoints import Failpoints
from portal.safety.fence import Fence, move_directory, open_fence

DAY = datetime(2026, 11, 21, tzinfo=UTC).date()
OLD = 1_700_000_000
# Nobody supervises these runs, so nobody renews it; who needs it over ends it.
LEASE = timedelta(hours=1)
_FORMATS = {
    "text": (
        "org.apache.hadoop.mapred.TextInputFormat",
        "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
    ),
    "parquet": (
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
}
_ACL = ("access:user:bob:rw-", "access:group::r--")
ODD_VALUES: tuple[str | None, ...] = (
    "plain",
    "with space",
    "a=b",
    "50%",
    "50%25",
    "über-日本",
    "été",
    "a/b:c",
    'it\'s "so"',
    "{x}[y]^z",
    "2026-11-21 03:00:00.0",
    "-1.5e3",
    "a#b?c\\d*e",
    "CASE",
    None,
)


class TestRules:
    """The room's rules as the tests need them: every location is effective, LEVEL and TTL plain."""

    __test__ = False

    def __init__(self, config: LakeConfig) -> None:
        self.config = config

    def refresh(self) -> None:
        """Nothing is remembered between two looks."""

    def neighbour(self, table: Any, partition: str, location: LakePath) -> str | None:
        return None

    def read_refusal(self, table: Any, partition: str, files: Sequence[FileStatus]) -> str | None:
        return None

    def refusal(self, table: Any) -> str | None:
        return "transactional" if table.parameters.get("transactional") == "true" else None

    def policy(self, table: Any) -> Policy:
        return Policy(int(table.parameters.get("LEVEL", -1)), int(table.parameters.get("TTL", -1)))

    def location(self, table: Any, partition: Any | None) -> LakePath | None:
        struct = table if partition is None else partition
        return self.config.path(struct.sd.location) if struct.sd.location else None

    def is_ready(self, partition: Any) -> bool:
        return is_ready(partition.parameters)


@dataclass
class Snapshot:
    """Everything of an object that a restore must bring back."""

    table: dict[str, Any]
    items: dict[str, dict[str, Any]]
    files: dict[str, tuple[FileFact, ...]]


@dataclass
class ActLake:
    """One lake under test; `base` is a fresh directory on its file system."""

    config: LakeConfig
    name: str
    metastore: Metastore = field(init=False)
    fs: FileSystem = field(init=False)

    def __post_init__(self) -> None:
        self.metastore = Metastore.connect(self.config)
        self.base = self.config.path(self.config.backup_roots[0]).parent.parent.child(
            "user", "act", self.name
        )
        self.fs = open_file_system(self.base, config=self.config)
        self.root = self.base.child("backup-root")
        self.db = f"act_{self.name}"
        self.db_path = self.base.child("db")
        self.fs.make_directories(self.db_path, mode=0o755)
        if self.db not in self.metastore.databases():
            self.metastore.create_database(
                ttypes.Database(
                    name=self.db, locationUri=str(self.db_path), parameters={}, description=""
                )
            )

    @property
    def odd_values(self) -> tuple[str | None, ...]:
        """Return the odd partition values that this metastore can hold at all."""
        if self.config.metastore_db.kind != "mysql":
            return ODD_VALUES
        # Its schema is latin1: Hive itself cannot make such a partition there.
        return tuple(v for v in ODD_VALUES if v is None or v.isascii() or _is_latin(v))

    def table_name(self, table: str) -> TableName:
        return TableName(self.config.lake, self.db, table)

    def make_table(
        self,
        table: str,
        *,
        keys: Sequence[str] = (),
        values: Sequence[Sequence[str | None]] = (),
        external: bool = False,
        file_format: str = "text",
    ) -> TableName:
        """Make a table with its partitions and files; the old one of this name must be gone."""
        name, home = self.table_name(table), self.db_path.child(table)
        self.fs.make_directories(home, mode=0o750)
        parameters = {"LEVEL": "1", "TTL": "60", "transient_lastDdlTime": str(OLD), "note": "ä'%=;"}
        if external:
            parameters["EXTERNAL"] = "TRUE"
        if not keys:
            parameters |= {"numRows": "7", "totalSize": "999", "numFiles": "3"}
        struct = ttypes.Table(
            tableName=table,
            dbName=self.db,
            owner="alice",
            sd=self._storage(home, file_format),
            partitionKeys=[
                ttypes.FieldSchema(name=key, type="string", comment=None) for key in keys
            ],
            parameters=parameters,
            tableType="EXTERNAL_TABLE" if external else "MANAGED_TABLE",
            createTime=OLD,
        )
        if not keys:
            self.make_files(home, n=1)
        self.metastore.create_table(struct)
        partitions = [
            self._partition(struct, PartitionName(tuple(keys), tuple(row)), n)
            for n, row in enumerate(values)
        ]
        self.metastore.add_partitions(partitions, if_not_exists=False)
        return name

    def make_files(self, directory: LakePath, *, n: int) -> None:
        """Fill a directory: files of several sizes, an empty one, hidden ones, a nested one."""
        self.fs.make_directories(directory, mode=0o751)
        self.fs.make_directories(directory.child("nested dir"), mode=0o700)
        for name, size in (
            (f"part-{n:05d}", 10 + n),
            ("_SUCCESS", 0),
            (".hidden.crc", 3),
            ("ünï=c%20de", 5),
        ):
            self.fs.write_new(directory.child(name), b"x" * size)
        self.fs.write_new(directory.child("nested dir", "deep"), b"deep" * (n + 1))
        self.fs.set_mode(directory.child("_SUCCESS"), 0o604)
        if directory.scheme == "file":
            for path in (
                directory.child("_SUCCESS"),
                directory.child("nested dir", "deep"),
                directory.child("nested dir"),
                directory,
            ):
                os.utime(path.path, (OLD + n, OLD + n))
            if os.geteuid() == 0:
                os.chown(directory.child("_SUCCESS").path, 1, 1)
        else:
            # Only the superuser may give files away; the acting user must keep what is not its own.
            superuser: FileSystem = self.fs
            if self.config.kerberos is None:
                superuser = HdfsFileSystem(
                    directory.authority, user=getpass.getuser(), settings=self.config.hadoop_conf
                )
            superuser.set_owner(directory.child("_SUCCESS"), "alice", "analysts")
            superuser.set_acl(directory.child(".hidden.crc"), _ACL)

    def snapshot(self, name: TableName) -> Snapshot:
        """Take all that must be equal after a restore."""
        table = self.metastore.table(name)
        names = self.metastore.partition_names(name) if table.partitionKeys else []
        structs = {
            partition_name(table, struct): struct
            for struct in self.metastore.partitions_by_names(name, names)
        } or {"": table}
        return Snapshot(
            table=_comparable(table),
            items={key: _comparable(struct) for key, struct in structs.items()},
            files={
                key: self.files(self.config.path(struct.sd.location))
                for key, struct in structs.items()
            },
        )

    def files(self, path: LakePath) -> tuple[FileFact, ...]:
        """List a place as manifests do; nothing there gives nothing."""
        listing = list_here(self.fs)([path])
        return files_of(listing.get(path, ()), root=path)

    def items(self, name: TableName) -> list[ActItem]:
        """Return the table's items as an approved plan would name them."""
        table = self.metastore.table(name)
        rules = TestRules(self.config)
        names = self.metastore.partition_names(name) if table.partitionKeys else []
        structs = self.metastore.partitions_by_names(name, names) if names else [table]
        found = []
        for struct in structs:
            partition = partition_name(table, struct) if table.partitionKeys else ""
            location = rules.location(table, struct)
            assert location is not None
            files = self.files(location)
            generation = generation_of(struct)
            found.append(
                ActItem(
                    db=name.db,
                    table=name.table,
                    partition=partition,
                    location=str(location),
                    create_time=generation.create_time,
                    ddl_time=generation.ddl_time,
                    level=1,
                    ttl=60,
                    mtime_ms=max(fact.mtime_ms for fact in files),
                    n_files=sum(not fact.is_dir for fact in files),
                    n_bytes=sum(fact.size for fact in files),
                )
            )
        return sorted(found, key=lambda item: item.partition)

    @property
    def day(self) -> Day:
        """The day directory that tests use."""
        return Day(self.root, DAY)

    def order(self, run: str, epoch: int = 1) -> DropOrder:
        """Make the fence of a drop run and give its order."""
        ensure_root(self.fs, self.root, deployment_id=self.config.deployment_id)
        fence = self.day.open(run, epoch)
        open_fence(self.fs, fence, lease_until=datetime.now(UTC) + LEASE)
        return DropOrder(
            run=run,
            epoch=epoch,
            lake=self.config.lake,
            plan="plan",
            digest="digest",
            fence=fence,
            keep_days={},
        )

    def tools(self, fence: LakePath, *, control: Control | None = None) -> Tools:
        """Return a driver's tools behind a fence."""
        return Tools(
            fs=self.fs,
            metastore=self.metastore,
            fence=Fence(self.fs, fence, clock=lambda: datetime.now(UTC)),
            lister=list_here(self.fs),
            control=lambda: control or Control(),
            clock=lambda: datetime.now(UTC),
            fail=Failpoints.from_environment(),
        )

    def drop(
        self,
        name: TableName,
        *,
        run: str | None = None,
        items: list[ActItem] | None = None,
        control: Control | None = None,
    ) -> tuple[str, DropResult]:
        """Drop a table's items as one run, then seal and settle it."""
        run = run or str(uuid.uuid4())
        order = self.order(run)
        result = drop_items(
            order,
            self.items(name) if items is None else items,
            rules=TestRules(self.config),
            tools=self.tools(order.fence, control=control),
        )
        self.seal(run)
        return run, result

    def seal(self, run: str, *, epoch: int = 1, approved: bool = False) -> dict[str, int]:
        """Seal and settle a drop run, as its end does."""
        sealed = self.day.sealed(run, epoch)
        if self.fs.status(self.day.open(run, epoch)) is not None:
            move_directory(self.fs, self.day.open(run, epoch), sealed)
        return settle_directory(sealed, self.settle_tools(approved=approved))

    def settle_tools(self, *, approved: bool = False) -> SettleTools:
        """Return the tools of settle and probe."""
        return SettleTools(
            fs=self.fs,
            metastore=self.metastore,
            lister=list_here(self.fs),
            now=datetime.now(UTC),
            may_finish=lambda: approved,
        )

    def probe(self, batch: JournalBatch) -> list[ProbeResult]:
        """Look at a batch again as the probe job does."""
        return probe_batch(
            batch, self.settle_tools(), occupied=self.occupied, names=DirectoryNames()
        )

    def occupied(self, places: Sequence[LakePath]) -> dict[LakePath, str]:
        """Return registered locations of this database at or under places, read over Thrift."""
        found: dict[LakePath, str] = {}
        for table in self.metastore.tables(self.db):
            name = self.table_name(table)
            struct = self.metastore.table(name)
            names = self.metastore.partition_names(name) if struct.partitionKeys else []
            for one in (struct, *self.metastore.partitions_by_names(name, names)):
                for place in places:
                    if self.config.path(one.sd.location).is_at_or_under(place):
                        found[place] = one.sd.location
        return found

    def claim(self, run: str, restore: str, *, epoch: int = 1) -> LakePath:
        """Claim a backup for a restore and make the missing parents; returns the directory."""
        fence = self.day.taken(FenceKind.RESTORE, restore, epoch)
        open_fence(self.fs, fence, lease_until=datetime.now(UTC) + LEASE)
        claimed = fence.child(BackupRef(run, 1).claimed_name)
        move_directory(self.fs, self.day.sealed(run, 1), claimed)
        for batch in batches(self.fs, claimed):
            for item in batch.intent.items:
                make_parents(self.fs, item.parents)
        return claimed

    def release(self, run: str, restore: str, *, epoch: int = 1) -> dict[str, int]:
        """Return a claimed backup back and settle what the restore left half done."""
        fence = self.day.taken(FenceKind.RESTORE, restore, epoch)
        claimed, sealed = fence.child(BackupRef(run, 1).claimed_name), self.day.sealed(run, 1)
        if self.fs.status(claimed) is not None:
            move_directory(self.fs, claimed, sealed)
        return settle_restores(sealed, self.settle_tools())

    def restore_order(
        self,
        run: str,
        restore: str,
        *,
        partitions: frozenset[str] | None = None,
        new_name: NewName | None = None,
    ) -> RestoreOrder:
        """Return the order of a restore of all batches of a claimed backup."""
        claimed = self.day.taken(FenceKind.RESTORE, restore, 1).child(
            BackupRef(run, 1).claimed_name
        )
        return RestoreOrder(
            run=restore,
            epoch=1,
            lake=self.config.lake,
            batches=tuple(
                BackupBatchRef(claimed, number) for number in batch_numbers(self.fs, claimed)
            ),
            partitions=partitions,
            new_name=new_name,
        )

    def restore(
        self,
        run: str,
        *,
        partitions: frozenset[str] | None = None,
        new_name: NewName | None = None,
    ) -> ActResult:
        """Restore from a sealed backup as one run, from claim to release."""
        restore = str(uuid.uuid4())
        claimed = self.claim(run, restore)
        tools = self.tools(claimed.parent)
        order = self.restore_order(run, restore, partitions=partitions, new_name=new_name)
        result = restore_batches(order, tools_of=lambda _directory: tools)
        self.release(run, restore)
        return result

    def _storage(self, location: LakePath, file_format: str) -> ttypes.StorageDescriptor:
        input_format, output_format, serde = _FORMATS[file_format]
        return ttypes.StorageDescriptor(
            cols=[
                ttypes.FieldSchema(name="id", type="bigint", comment="the id"),
                ttypes.FieldSchema(name="m", type="map<string,array<int>>", comment=None),
            ],
            location=str(location),
            inputFormat=input_format,
            outputFormat=output_format,
            compressed=False,
            numBuckets=-1,
            serdeInfo=ttypes.SerDeInfo(
                name=None,
                serializationLib=serde,
                parameters={"serialization.format": "1", "field.delim": "\u0001"},
            ),
            bucketCols=[],
            sortCols=[],
            parameters={"sd": "kept"},
        )

    def _partition(self, table: Any, name: PartitionName, n: int) -> ttypes.Partition:
        location = self.config.path(table.sd.location).child(*str(name).split("/"))
        self.make_files(location, n=n)
        storage = self._storage(location, "text")
        storage.inputFormat = table.sd.inputFormat
        storage.outputFormat = table.sd.outputFormat
        storage.serdeInfo.serializationLib = table.sd.serdeInfo.serializationLib
        return ttypes.Partition(
            values=name.metastore_values,
            dbName=table.dbName,
            tableName=table.tableName,
            createTime=OLD,
            sd=storage,
            parameters={
                "transient_lastDdlTime": str(OLD + n),
                "numRows": str(n),
                "totalSize": "12345",
                "numFiles": "1",
                "mark": "p'%\u00e4",
            },
        )


def _is_latin(text: str) -> bool:
    try:
        text.encode("latin1")
    except UnicodeEncodeError:
        return False
    return True


def _comparable(struct: Any) -> dict[str, Any]:
    plain = json.loads(json.dumps(struct, default=vars))
    for name in ("createTime", "lastAccessTime", "writeId", "privileges"):
        plain.pop(name, None)
    plain["parameters"] = {
        key: value
        for key, value in plain["parameters"].items()
        if key != "transient_lastDdlTime" and not key.startswith("lakewarden.")
    }
    return dict(plain)
