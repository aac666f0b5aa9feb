"""Makes the lake that `bench.judge` judges: odd names, values, times, nesting and places."""

import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from portal.connectors.lake_config import LakeConfig

NOW = datetime(2026, 11, 22, 3, 30, tzinfo=UTC)
DAY, DAY_MS = 86_400, 86_400_000
SOON, READ = 7, 30
OWNERS = ("alice", "bob", "carol")
VALUES = (
    *("plain", "with space", "a=b", "50%", "50%25", "é", "a/b:c", "CASE", "-1.5e3", "{x}[y]^z"),
    *("it's", "a#b?c*", "__HIVE_DEFAULT_PARTITION__"),
)
FORMATS = {
    "parquet": (
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
    "text": (
        "org.apache.hadoop.mapred.TextInputFormat",
        "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
    ),
}
POLICIES: tuple[dict[str, str], ...] = (
    *({"LEVEL": "1", "TTL": "30"},) * 8,
    {"level": "1", "ttl": "10"},
    {"LEVEL": "0", "TTL": "1"},
    {},
    {"LEVEL": "1"},
    {"LEVEL": "1", "TTL": "soon"},
    {"LEVEL": "0", "TTL": "soon"},
    {"LEVEL": "2", "TTL": "5"},
    {"LEVEL": "1", "TTL": "0"},
    {"LEVEL": "1", "TTL": "3", "ttl": "3"},
)
UNSUPPORTED: tuple[dict[str, str], ...] = (
    {"table_type": "ICEBERG"},
    {"spark.sql.sources.provider": "delta"},
    {"storage_handler": "org.apache.hadoop.hive.hbase.HBaseStorageHandler"},
)
Key = tuple[str, str, str]


def connect(config: LakeConfig) -> Any:
    """Open a plain connection to the metastore."""
    transport = TBufferedTransport(TSocket(config.thrift_host, config.thrift_port))
    transport.open()
    return ThriftHiveMetastore.Client(TBinaryProtocol(transport))


class Maker:
    """Makes the lake; all that is random comes from the seed."""

    def __init__(self, client: Any, root: Path, seed: int) -> None:
        self.client, self.root = client, root
        self.dice = random.Random(seed)
        self.tag = f"j{seed}x{os.getpid()}"

    def make(self, n_tables: int) -> None:
        """Make databases, tables, partitions and files."""
        databases = [self._database(n) for n in range(5)]
        for n in range(n_tables):
            self._table(n, *self.dice.choice(databases))

    def _database(self, n: int) -> tuple[str, str, Path]:
        owner, name = self.dice.choice(OWNERS), f"{self.tag}_{n}"
        home = self.root / "user" / (owner if n else "nobody") / f"db {n} %41"
        home.mkdir(parents=True)
        self.client.create_database(
            ttypes.Database(
                name=name, locationUri=f"file://{home}", ownerName=owner, ownerType=1, parameters={}
            )
        )
        return name, owner, home

    def _table(self, n: int, db: str, owner: str, home: Path) -> None:
        dice, name = self.dice, f"t{n}"
        place = dice.choice(
            [
                *[home / name] * 6,
                home / "shared",
                home / "shared" / name,
                self.root / "stray" / name,
            ]
        )
        parameters = {**dice.choice(POLICIES), **(dice.choice(UNSUPPORTED) if n % 9 == 8 else {})}
        is_partitioned = dice.random() < 0.7
        sd = self._storage(place, dice.choice(list(FORMATS)))
        age = dice.choice((1, 20, 25, 29, 31, 100, 400))
        place.mkdir(parents=True, exist_ok=True)
        table = ttypes.Table(
            dbName=db,
            tableName=name,
            owner=dice.choice((owner, owner, owner, "zoe")),
            createTime=1,
            sd=sd,
            partitionKeys=[ttypes.FieldSchema("dt", "string")] if is_partitioned else [],
            parameters={
                "EXTERNAL": "TRUE",
                "transient_lastDdlTime": str(_ago(age)),
                **parameters,
            },
            tableType="EXTERNAL_TABLE",
        )
        self.client.create_table(table)
        if is_partitioned:
            for value in dice.sample(VALUES, dice.randint(0, 8)):
                self._partition(table, place, value)
        elif dice.random() < 0.1:
            place.rmdir() if not any(place.iterdir()) else None
        else:
            self._files(place)

    def _partition(self, table: Any, home: Path, value: str) -> None:
        dice = self.dice
        usual = home / f"dt={quote(value, safe=' -._éü')}"
        place = dice.choice([*[usual] * 8, home / "dt=same", usual / "in", self.root / "out" / "x"])
        kind = dice.random()
        if any(one.is_file() for one in (place, *place.parents)):
            return  # the metastore would refuse it: another table's partition is a file there
        sd = self._storage(place, "parquet")
        sd.inputFormat, sd.serdeInfo = table.sd.inputFormat, table.sd.serdeInfo
        one = ttypes.Partition(
            values=[value],
            dbName=table.dbName,
            tableName=table.tableName,
            createTime=1,
            sd=sd,
            parameters={
                "transient_lastDdlTime": str(_ago(dice.choice((1, 9, 22, 24, 29.5, 31, 90)))),
                **({"commit": "false"} if dice.random() < 0.1 else {}),
            },
        )
        self.client.add_partition(one)
        if kind < 0.08:
            place.rmdir() if not any(place.iterdir()) else None
        elif kind < 0.12 and place == usual and not any(place.iterdir()):
            place.rmdir()
            place.write_bytes(b"a file")
            os.utime(place, (_ago(90), _ago(90)))
        elif place.is_dir():
            self._files(place)

    def _files(self, place: Path) -> None:
        dice = self.dice
        for n in range(dice.randint(0, 4)):
            path = place / dice.choice(("", "deep/er")) / dice.choice((f"part-{n}", f"_ü {n}"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" * dice.randint(0, 300))
        for base, names, files in os.walk(place, topdown=False):
            for name in (*files, *names, ""):
                age = dice.choice((2, 23, 26, 33, 90, 200))
                read = dice.choice((age, age, age - 1, 1))
                os.utime(Path(base) / name, (_ago(read), _ago(age)))

    def _storage(self, place: Path, name: str) -> Any:
        reader, writer, serde = FORMATS[name]
        return ttypes.StorageDescriptor(
            cols=[ttypes.FieldSchema("id", "string")],
            location=f"file://{place}",
            inputFormat=reader,
            outputFormat=writer,
            serdeInfo=ttypes.SerDeInfo(serializationLib=serde, parameters={}),
            parameters={},
            bucketCols=[],
            sortCols=[],
            numBuckets=0,
        )


def _ago(days: float) -> int:
    return int(NOW.timestamp() - days * DAY)
