"""Tables that lifecycle must leave alone, and places that no CREATE TABLE would make.

Iceberg and Hudi through Spark; a transactional table, locations with `..` or on another file
system, partitions outside their table and vanished directories through the metastore.
"""

import copy
import shutil
from pathlib import Path

from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE

VIEWED = "sales.orders"
"""The table of which `make_view` makes a view."""


def name_of(db: str, table: str) -> TableName:
    """Return the name of a table of the demo's lake."""
    return TableName(LakeId(LAKE), db, table)


def make_lake_formats(spark: SparkSession) -> None:
    """Make an Iceberg table and a Hudi table."""
    spark.sql(
        "create table ice.risk.features (id bigint, dt string, value double) using iceberg "
        "partitioned by (dt) tblproperties ('LEVEL'='1', 'TTL'='30')"
    )
    for day in ("2026-01-01", "2026-01-02", "2026-01-03"):
        spark.sql("insert into ice.risk.features values (1, :day, 1.0)", {"day": day})
    spark.sql(
        "create table risk.decisions (id bigint, verdict string, ts bigint, dt string) using hudi "
        "partitioned by (dt) tblproperties "
        "(primaryKey='id', preCombineField='ts', 'LEVEL'='1', 'TTL'='30')"
    )
    spark.sql("insert into risk.decisions values (1, 'yes', 1, '2026-01-01')")


def make_view(spark: SparkSession) -> None:
    """Make a view; Spark may look into the files of its table."""
    spark.sql(
        "create view sales.orders_by_day as select dt, count(*) n from sales.orders group by dt"
    )


def make_transactional(metastore: Metastore) -> None:
    """Register a transactional table: Spark can neither make nor read one."""
    like = metastore.table(name_of("risk", "models"))
    table = copy.deepcopy(like)
    table.tableName = "ledger_acid"
    table.tableType = "MANAGED_TABLE"
    place = like.sd.location.rsplit("/", 1)[0] + "/ledger_acid"
    table.sd.location = place
    table.sd.inputFormat = "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"
    table.sd.outputFormat = "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat"
    table.sd.serdeInfo.serializationLib = "org.apache.hadoop.hive.ql.io.orc.OrcSerde"
    table.parameters = {
        **{key: value for key, value in like.parameters.items() if not key.startswith("spark.")},
        "transactional": "true",
        # Full ACID needs ORC's classes, which a metastore without Hive does not have.
        "transactional_properties": "insert_only",
        "LEVEL": "1",
        "TTL": "30",
    }
    metastore.create_table(table)


def move_to_odd_places(metastore: Metastore, user_root: Path) -> None:
    """Point tables and partitions at places that break the path rules or do not exist."""
    _relocate(metastore, "lab", "dots", f"file:{user_root}/alice/lab.db/../lab.db/dots")
    _relocate(metastore, "lab", "far_away", "hdfs://127.0.0.1:8020/user/alice/far_away")
    name = name_of("lab", "stray_parts")
    first, second, *_ = sorted(
        metastore.partitions_by_names(name, metastore.partition_names(name)),
        key=lambda partition: partition.values,
    )
    for partition, place in ((first, "alice/strays"), (second, "bob/strays")):
        target = user_root / place / f"dt={partition.values[0]}"
        source = Path("/" + partition.sd.location.split(":", 1)[1].lstrip("/"))
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
        partition.sd.location = f"file:{target}"
    metastore.alter_partitions(name, [first, second])
    shutil.rmtree(user_root / "erin/media.db/gone")
    transcodes = name_of("media", "transcodes")
    oldest = min(metastore.partition_names(transcodes))
    shutil.rmtree(user_root / "erin/media.db/transcodes" / oldest)


def _relocate(metastore: Metastore, db: str, table: str, location: str) -> None:
    name = name_of(db, table)
    found: ttypes.Table = metastore.table(name)
    found.sd.location = location
    metastore.alter_table_keeping_times(name, found)
