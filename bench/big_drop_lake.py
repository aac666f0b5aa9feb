"""The lake of the big drop: tables of very many old partitions, with an empty file in each.

The first partition of a table is registered over Thrift; the rows of the others are copies of its
rows in the metastore's MariaDB. Empty files, because a block a file costs the one DataNode more
than all that is measured; no part of a drop or restore reads what stands in a file.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import hdfs_native
import pymysql

from portal.connectors.hdfs_user import turns

if TYPE_CHECKING:
    from tests.support.scan_lake import ScanLake

WRITERS = 16
_FIRST_ID = 10_000_000
# `seq` counts the copies; {first} is the id before them, {value} the partition's value.
_VALUE = "CONCAT('2024-', LPAD(seq, 6, '0'))"
_COPY = (
    """INSERT INTO SERDES (SERDE_ID, NAME, SLIB)
       SELECT {first} + seq, r.NAME, r.SLIB FROM seq_1_to_{n}, PARTITIONS p
       JOIN SDS s ON s.SD_ID = p.SD_ID JOIN SERDES r ON r.SERDE_ID = s.SERDE_ID
       WHERE p.PART_ID = {part}""",
    """INSERT INTO SDS (SD_ID, CD_ID, INPUT_FORMAT, IS_COMPRESSED, IS_STOREDASSUBDIRECTORIES,
         LOCATION, NUM_BUCKETS, OUTPUT_FORMAT, SERDE_ID)
       SELECT {first} + seq, s.CD_ID, s.INPUT_FORMAT, s.IS_COMPRESSED, s.IS_STOREDASSUBDIRECTORIES,
         REPLACE(s.LOCATION, '2024-000000', {value}), s.NUM_BUCKETS, s.OUTPUT_FORMAT, {first} + seq
       FROM seq_1_to_{n}, PARTITIONS p JOIN SDS s ON s.SD_ID = p.SD_ID WHERE p.PART_ID = {part}""",
    """INSERT INTO PARTITIONS (PART_ID, CREATE_TIME, LAST_ACCESS_TIME, PART_NAME, SD_ID, TBL_ID)
       SELECT {first} + seq, p.CREATE_TIME, p.LAST_ACCESS_TIME, CONCAT('dt=', {value}),
         {first} + seq, p.TBL_ID FROM seq_1_to_{n}, PARTITIONS p WHERE p.PART_ID = {part}""",
    """INSERT INTO PARTITION_PARAMS (PART_ID, PARAM_KEY, PARAM_VALUE)
       SELECT {first} + seq, q.PARAM_KEY, q.PARAM_VALUE FROM seq_1_to_{n}, PARTITION_PARAMS q
       WHERE q.PART_ID = {part}""",
    """INSERT INTO PARTITION_KEY_VALS (PART_ID, PART_KEY_VAL, INTEGER_IDX)
       SELECT {first} + seq, {value}, 0 FROM seq_1_to_{n}""",
)
_ANALYZE = "ANALYZE TABLE PARTITIONS, SDS, SERDES, PARTITION_PARAMS, PARTITION_KEY_VALS, TBLS"


def make_tables(
    lake: "ScanLake",
    link: "pymysql.Connection[pymysql.cursors.Cursor]",
    n: int,
    n_tables: int,
) -> list[str]:
    """Register tables of old partitions with a file each; returns the tables' names."""
    home = lake.database("big", owner="alice")
    policy = {"LEVEL": "1", "TTL": "60"}
    names, n_each = [], n // n_tables
    for number in range(n_tables):
        place = str(home.child(f"t{number}"))
        table = lake.table("big", f"t{number}", owner="alice", location=place, parameters=policy)
        names.append(lake.name_of(table))
        _register_first(lake, table)
        _copy_rows(link, table, first=_FIRST_ID + number * n_each, n=n_each - 1)
        _fill(lake, [f"{place}/dt=2024-{one:06d}" for one in range(n_each)])
    with link.cursor() as cursor:
        cursor.execute(_ANALYZE)
    return names


def _register_first(lake: "ScanLake", table: Any) -> None:
    from pymetastore.hive_metastore import ttypes

    from tests.support.scan_lake import days_ago

    row = ttypes.Partition(
        values=["2024-000000"],
        dbName=table.dbName,
        tableName=table.tableName,
        createTime=days_ago(100),
        sd=lake._storage(f"{table.sd.location}/dt=2024-000000"),
        # The numbers that Hive and Spark write; without them the metastore counts at every add.
        parameters={
            "transient_lastDdlTime": str(days_ago(100)),
            "numFiles": "1",
            "totalSize": "0",
        },
    )
    lake.metastore.add_partitions([row], if_not_exists=False)


def _copy_rows(
    link: "pymysql.Connection[pymysql.cursors.Cursor]", table: Any, *, first: int, n: int
) -> None:
    with link.cursor() as cursor:
        cursor.execute(
            "SELECT p.PART_ID FROM PARTITIONS p JOIN TBLS t ON t.TBL_ID = p.TBL_ID "
            "JOIN DBS d ON d.DB_ID = t.DB_ID WHERE d.NAME = %s AND t.TBL_NAME = %s",
            (table.dbName, table.tableName),
        )
        ((part,),) = cursor.fetchall()
        for statement in _COPY if n else ():
            cursor.execute(statement.format(first=first, n=n, part=part, value=_VALUE))
    link.commit()


def _fill(lake: "ScanLake", texts: Sequence[str]) -> None:
    from tests.support.scan_lake import days_ago

    places = [lake.config.path(text) for text in texts]
    client = hdfs_native.Client(f"hdfs://{places[0].authority}")
    options = hdfs_native.WriteOptions(permission=0o644, create_parent=True)
    ms = days_ago(100) * 1000

    def fill(path: str) -> None:
        client.create(f"{path}/part-0", options).close()
        for one in (f"{path}/part-0", path):
            client.set_times(one, ms, ms)

    with turns.of(lake.config.hadoop_user), ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(fill, [place.path for place in places]))
