"""A small odd lake made through Thrift and the file system port, and how a scan is run on it."""

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import hdfs_native
import pyarrow.parquet as pq
from pymetastore.hive_metastore import ttypes

from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.kerberos.tickets import login
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.names import PartitionName, TableName
from portal.lake.paths import LakePath
from portal.spark.launch import Launched, is_alive, kill, submit
from portal.spark.spool import Spool

NOW = datetime(2026, 11, 22, 3, 30, tzinfo=UTC)
DAY = 86_400
PARQUET = (
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
)


def days_ago(days: float) -> int:
    """Return the epoch second that many days before NOW."""
    return int(NOW.timestamp() - days * DAY)


@dataclass
class ScanLake:
    """Builds databases, tables and partitions below `root`, as the metastore would hold them.

    A scan sees the whole lake, so what earlier tests left registered on this stack is forgotten.
    """

    config: LakeConfig
    root: LakePath
    suffix: str = field(default_factory=lambda: uuid.uuid4().hex[:6])

    def __post_init__(self) -> None:
        self.fs: FileSystem = open_file_system(self.root, config=self.config)
        self.metastore = Metastore.connect(self.config)
        for name in self.metastore.databases():
            if name != "default":
                # Not offered by the connector: the product never drops a database.
                self.metastore._client.drop_database(name, False, True)

    def db_name(self, name: str) -> str:
        """Return the database's name on this (shared) stack."""
        return f"{name}_{self.suffix}"

    def database(self, name: str, *, owner: str, location: LakePath | None = None) -> LakePath:
        """Register a database; by default where its owner may keep it."""
        place = location or self.root.child("user", owner, self.db_name(name))
        self.fs.make_directories(place, mode=0o755)
        self.metastore.create_database(
            ttypes.Database(
                name=self.db_name(name),
                locationUri=str(place),
                ownerName=owner,
                ownerType=ttypes.PrincipalType.USER,
                parameters={},
            )
        )
        return place

    def table(
        self,
        db: str,
        name: str,
        *,
        owner: str,
        location: str,
        keys: Sequence[str] = ("dt",),
        parameters: Mapping[str, str] | None = None,
        age: float = 100,
    ) -> ttypes.Table:
        """Register an external Parquet table with a DDL time `age` days ago."""
        table = ttypes.Table(
            dbName=self.db_name(db),
            tableName=name,
            owner=owner,
            createTime=days_ago(age),
            sd=self._storage(location),
            partitionKeys=[ttypes.FieldSchema(name=key, type="string") for key in keys],
            parameters={
                "EXTERNAL": "TRUE",
                "transient_lastDdlTime": str(days_ago(age)),
                **(parameters or {}),
            },
            tableType="EXTERNAL_TABLE",
        )
        self.metastore.create_table(table)
        return table

    def partition(
        self,
        table: ttypes.Table,
        value: str | Sequence[str | None],
        *,
        location: str | None = None,
        ddl_age: float = 100,
        parameters: Mapping[str, str] | None = None,
    ) -> str:
        """Register a partition and give its location.

        The metastore makes a directory when it adds one, so an odd `location` is set afterwards.
        """
        keys = tuple(key.name for key in table.partitionKeys)
        values = (value,) if isinstance(value, str) else tuple(value)
        name = PartitionName(keys, values)
        usual = f"{table.sd.location}/{name}"
        partition = ttypes.Partition(
            values=name.metastore_values,
            dbName=table.dbName,
            tableName=table.tableName,
            createTime=days_ago(ddl_age),
            sd=self._storage(usual),
            parameters={"transient_lastDdlTime": str(days_ago(ddl_age)), **(parameters or {})},
        )
        self.metastore.add_partitions([partition], if_not_exists=False)
        if location is not None:
            self.fs.remove_empty_directory(self.config.path(usual))
            partition.sd.location = location
            self.metastore.alter_partitions(
                TableName.parse(self.config.lake, self.name_of(table)), [partition]
            )
        return location or usual

    def remove(self, location: str) -> None:
        """Remove a directory that the metastore made."""
        self.fs.remove_empty_directory(self.config.path(location))

    @staticmethod
    def name_of(table: ttypes.Table) -> str:
        """Return `db.table`."""
        return f"{table.dbName}.{table.tableName}"

    def data(
        self,
        location: str | LakePath,
        *,
        age: float,
        read_age: float | None = None,
        files: Sequence[str] = ("part-0",),
    ) -> None:
        """Put files below a location and give the whole tree its age."""
        place = location if isinstance(location, LakePath) else self.config.path(location)
        self.fs.make_directories(place, mode=0o755)
        for name in files:
            path = place.child(*name.split("/"))
            self.fs.make_directories(path.parent, mode=0o755)
            self.fs.write_new(path, b"12345")
        found = list(self.fs.walk(place))
        for status in reversed(found):
            read = age if read_age is None or status.is_dir else read_age
            self.set_times(status.path, changed=days_ago(age), read=days_ago(read))

    def set_times(self, path: LakePath, *, changed: int, read: int) -> None:
        """Set a path's modification and access times (epoch seconds)."""
        if path.scheme == "file":
            os.utime(path.path, (read, changed))
        else:
            kerberos = self.config.kerberos
            client = hdfs_native.Client(
                f"hdfs://{path.authority}",
                config=self.config.hadoop_conf,
                **(login(kerberos) if kerberos else {}),
            )
            client.set_times(path.path, changed * 1000, read * 1000)

    def _storage(self, location: str) -> ttypes.StorageDescriptor:
        return ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema(name="id", type="string")],
            location=location,
            inputFormat=PARQUET[0],
            outputFormat=PARQUET[1],
            serdeInfo=ttypes.SerDeInfo(serializationLib=PARQUET[2], parameters={}),
            parameters={},
            bucketCols=[],
            sortCols=[],
            numBuckets=0,
        )


@dataclass(frozen=True)
class ScanRun:
    """How one scan ended, and its results."""

    spool: Spool
    manifest: dict[str, Any]

    @property
    def result(self) -> dict[str, Any]:
        """The manifest's result; the outcome must be good."""
        assert self.manifest["outcome"] == "done", self.manifest
        return dict(self.manifest["result"])

    def rows(self, part: str) -> list[dict[str, Any]]:
        """Return all rows of one result."""
        found: list[dict[str, Any]] = []
        for status in self.spool.fs.walk(self.spool.results.child(part)):
            if status.path.name.endswith(".parquet"):
                table = pq.ParquetFile(BytesIO(self.spool.fs.read(status.path))).read()
                found += table.to_pylist()
        return found


def start_job(
    config: LakeConfig,
    params: Mapping[str, Any],
    *,
    log_file: Path,
    module: str = "lifecycle.inventory.jobs.scan",
    now: datetime = NOW,
) -> tuple[Spool, Launched]:
    """Submit a job as the portal does."""
    run = str(uuid.uuid4())
    spool = Spool.for_run(config, run, 1)
    spool.create()
    spool.write_request(
        {
            "run": run,
            "epoch": 1,
            "lake": config.as_dict(),
            "now": now.isoformat(),
            "params": dict(params),
        }
    )
    launched = submit(
        module=module,
        tag=f"lw-{run}-1",
        spool=str(spool.root),
        config=config,
        log_file=log_file,
        environment={"LW_METASTORE_DB_PASSWORD": config.metastore_db.password()},
    )
    return spool, launched


def run_scan(
    config: LakeConfig,
    params: Mapping[str, Any],
    *,
    log_file: Path,
    now: datetime = NOW,
    seconds: float = 240,
) -> ScanRun:
    """Run a scan to its end; the log is shown when it wrote no manifest."""
    spool, launched = start_job(config, params, log_file=log_file, now=now)
    deadline = time.monotonic() + seconds
    while is_alive(launched):
        if time.monotonic() > deadline:
            kill(launched)
            raise AssertionError(log_file.read_text(encoding="utf-8")[-4000:])
        time.sleep(0.2)
    manifest = spool.read_manifest()
    assert manifest is not None, log_file.read_text(encoding="utf-8")[-4000:]
    return ScanRun(spool, manifest)
