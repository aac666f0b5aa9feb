"""Makes a table of 100,000 partitions in seconds, by writing rows straight to the metastore.

The table itself is made by the metastore; each partition gets what the metastore would have
written: its storage, its serde, its value, and the two parameters that Hive gives every one.
"""

from bench.refresh_stack import DB, LAKE, Bench, make_table
from portal.connectors.metastore import Metastore as Client
from portal.lake.names import TableName
from stack.servers.mariadb import METASTORE

GIANT = "giant"
# Far above the keys that the metastore gives out.
_BASE = 10_000_000
_WRITTEN = 1_795_318_200
_FILL = (
    "SET SESSION foreign_key_checks = 0, unique_checks = 0",
    "INSERT INTO SERDES (SERDE_ID) SELECT {base} + seq FROM seq_1_to_{n}",
    """INSERT INTO SDS (SD_ID, CD_ID, IS_COMPRESSED, IS_STOREDASSUBDIRECTORIES, LOCATION,
         NUM_BUCKETS, SERDE_ID)
       SELECT {base} + seq, {columns}, 0, 0, CONCAT('{home}/dt=d', seq - 1), 0, {base} + seq
       FROM seq_1_to_{n}""",
    """INSERT INTO PARTITIONS (PART_ID, CREATE_TIME, LAST_ACCESS_TIME, PART_NAME, SD_ID, TBL_ID)
       SELECT {base} + seq, {written}, 0, CONCAT('dt=d', seq - 1), {base} + seq, {table}
       FROM seq_1_to_{n}""",
    """INSERT INTO PARTITION_KEY_VALS (PART_ID, PART_KEY_VAL, INTEGER_IDX)
       SELECT {base} + seq, CONCAT('d', seq - 1), 0 FROM seq_1_to_{n}""",
    """INSERT INTO PARTITION_PARAMS (PART_ID, PARAM_KEY, PARAM_VALUE)
       SELECT {base} + seq, 'transient_lastDdlTime', {written} FROM seq_1_to_{n}""",
    """INSERT INTO PARTITION_PARAMS (PART_ID, PARAM_KEY, PARAM_VALUE)
       SELECT {base} + seq, 'numFiles', '1' FROM seq_1_to_{n}""",
    "ANALYZE TABLE PARTITIONS, SDS, SERDES, PARTITION_KEY_VALS, PARTITION_PARAMS",
)


def make_giant(bench: Bench, n: int) -> None:
    """Make the table with its partitions, and have the metastore count them."""
    name = TableName(LAKE, DB, GIANT)
    with Client.connect(bench.config, timeout_seconds=120) as client:
        home = make_table(bench, client, name)
        ((table, columns),) = bench.ask(
            "select TBL_ID, CD_ID from TBLS join SDS using (SD_ID) where TBL_NAME = %s",
            GIANT,
            database=METASTORE,
        )
        values = {
            "base": _BASE, "n": n, "table": table, "columns": columns, "home": home,
            "written": _WRITTEN,
        }  # fmt: skip
        with bench.database.connect(METASTORE) as link, link.cursor() as cursor:
            for statement in _FILL:
                cursor.execute(statement.format(**values))
        found = client.n_partitions(name)
        if found != n:
            raise SystemExit(
                f"The metastore counts {found} partitions of {n} in the very large table."
            )
