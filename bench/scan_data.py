"""The scan bench's lake: rows straight into the metastore's MariaDB, directories straight on disk.

1,000 partitions a table; nine tenths of the partitions have a real directory with one file. Ages
follow from the partition's number alone, so that a reader can judge every row without the scan.
"""

import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pymysql

PER_TABLE = 1_000
NOW = 1_795_318_200  # 2026-11-22 03:30 UTC
DAY = 86_400
TTL = 30
# Blocks of a hundred partitions in order, as of a table partitioned by day: DDL age in days, file
# age in days, directory there? The first block is gone from disk, two are old by both clocks, three
# are old in the metastore but have newer files (one of them due soon), four were written lately by
# the metastore's word.
AGES = (
    (90, 0, False),
    *((400, 400, True), (60, 60, True)),
    *((200, 15, True), (90, 3, True), (45, 25, True)),
    *((20, 20, True), (9, 9, True), (5, 5, True), (2, 2, True)),
)
_BLOCK = PER_TABLE // len(AGES)
_SQL = (
    "SET SESSION foreign_key_checks = 0, unique_checks = 0",
    "DELETE FROM DBS WHERE DB_ID >= 1000000",
    """INSERT INTO DBS (DB_ID, `DESC`, DB_LOCATION_URI, NAME, OWNER_NAME, OWNER_TYPE, CTLG_NAME)
       VALUES (1000000, '{ages}', 'file://{root}/user/bench/bench', 'bench', 'bench', 'USER',
         'hive')""",
    """INSERT INTO CDS (CD_ID) VALUES (1000000)""",
    """INSERT INTO SERDES (SERDE_ID, NAME, SLIB) VALUES (1000000, NULL,
       'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe')""",
    """INSERT INTO SDS (SD_ID, CD_ID, INPUT_FORMAT, IS_COMPRESSED, IS_STOREDASSUBDIRECTORIES,
         LOCATION, NUM_BUCKETS, OUTPUT_FORMAT, SERDE_ID)
       SELECT 1000000 + seq, 1000000,
         'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat', 0, 0,
         CONCAT('file://{root}/user/bench/bench/t', LPAD(seq, 5, '0')), -1,
         'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat', 1000000
       FROM seq_1_to_{tables}""",
    """INSERT INTO TBLS (TBL_ID, CREATE_TIME, DB_ID, LAST_ACCESS_TIME, OWNER, OWNER_TYPE,
         RETENTION, SD_ID, TBL_NAME, TBL_TYPE, IS_REWRITE_ENABLED)
       SELECT 1000000 + seq, {now} - 500 * 86400, 1000000, 0, 'bench', 'USER', 0, 1000000 + seq,
         CONCAT('t', LPAD(seq, 5, '0')), 'EXTERNAL_TABLE', 0 FROM seq_1_to_{tables}""",
    """INSERT INTO PARTITION_KEYS (TBL_ID, PKEY_NAME, PKEY_TYPE, INTEGER_IDX)
       SELECT 1000000 + seq, 'dt', 'string', 0 FROM seq_1_to_{tables}""",
    """INSERT INTO TABLE_PARAMS (TBL_ID, PARAM_KEY, PARAM_VALUE)
       SELECT 1000000 + seq, 'LEVEL', '1' FROM seq_1_to_{tables}""",
    """INSERT INTO TABLE_PARAMS (TBL_ID, PARAM_KEY, PARAM_VALUE)
       SELECT 1000000 + seq, 'TTL', '{ttl}' FROM seq_1_to_{tables}""",
    """INSERT INTO SDS (SD_ID, CD_ID, INPUT_FORMAT, IS_COMPRESSED, IS_STOREDASSUBDIRECTORIES,
         LOCATION, NUM_BUCKETS, OUTPUT_FORMAT, SERDE_ID)
       SELECT 10000000 + seq, 1000000,
         'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat', 0, 0,
         CONCAT('file://{root}/user/bench/bench/t', LPAD((seq - 1) DIV 1000 + 1, 5, '0'),
           '/dt=', LPAD((seq - 1) MOD 1000, 4, '0')), -1,
         'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat', 1000000
       FROM seq_1_to_{n}""",
    """INSERT INTO PARTITIONS (PART_ID, CREATE_TIME, LAST_ACCESS_TIME, PART_NAME, SD_ID, TBL_ID)
       SELECT 10000000 + seq, {now} - 500 * 86400, 0,
         CONCAT('dt=', LPAD((seq - 1) MOD 1000, 4, '0')), 10000000 + seq,
         1000000 + (seq - 1) DIV 1000 + 1 FROM seq_1_to_{n}""",
    """INSERT INTO PARTITION_PARAMS (PART_ID, PARAM_KEY, PARAM_VALUE)
       SELECT 10000000 + seq, 'transient_lastDdlTime',
         {now} - 86400 * ELT((seq - 1) MOD 1000 DIV 100 + 1, {ddl_ages}) FROM seq_1_to_{n}""",
    """INSERT INTO PARTITION_PARAMS (PART_ID, PARAM_KEY, PARAM_VALUE)
       SELECT 10000000 + seq, 'numFiles', '1' FROM seq_1_to_{n}""",
    """INSERT INTO PARTITION_KEY_VALS (PART_ID, PART_KEY_VAL, INTEGER_IDX)
       SELECT 10000000 + seq, LPAD((seq - 1) MOD 1000, 4, '0'), 0 FROM seq_1_to_{n}""",
    "ANALYZE TABLE PARTITIONS, SDS, PARTITION_PARAMS, TBLS",
)
_CLEAN = (
    "DELETE FROM PARTITION_KEY_VALS WHERE PART_ID >= 10000000",
    "DELETE FROM PARTITION_PARAMS WHERE PART_ID >= 10000000",
    "DELETE FROM PARTITIONS WHERE PART_ID >= 10000000",
    "DELETE FROM TABLE_PARAMS WHERE TBL_ID >= 1000000",
    "DELETE FROM PARTITION_KEYS WHERE TBL_ID >= 1000000",
    "DELETE FROM TBLS WHERE TBL_ID >= 1000000",
    "DELETE FROM SDS WHERE SD_ID >= 1000000",
    "DELETE FROM SERDES WHERE SERDE_ID >= 1000000",
    "DELETE FROM CDS WHERE CD_ID >= 1000000",
    "DELETE FROM DBS WHERE DB_ID >= 1000000",
)


@dataclass(frozen=True, slots=True)
class BenchLake:
    """A lake of `n` partitions below `root`."""

    root: Path
    n: int

    @property
    def n_tables(self) -> int:
        """How many tables of 1,000 partitions."""
        return self.n // PER_TABLE

    @property
    def warehouse(self) -> Path:
        """The directory of the bench's database."""
        return self.root / "user" / "bench" / "bench"

    def fill_metastore(self, link: "pymysql.Connection[pymysql.cursors.Cursor]") -> None:
        """Insert the rows of this lake in place of an earlier bench's; the same rows are kept."""
        if self._is_filled(link):
            return
        values = {
            "root": str(self.root),
            "n": str(self.n),
            "tables": str(self.n_tables),
            "ages": str(AGES),
            "now": str(NOW),
            "ttl": str(TTL),
            "ddl_ages": ", ".join(str(age) for age, _, _ in AGES),
        }
        with link.cursor() as cursor:
            for statement in (_SQL[0], *_CLEAN, *_SQL[1:]):
                filled = statement
                for name, value in values.items():
                    filled = filled.replace("{" + name + "}", value)
                cursor.execute(filled)

    def _is_filled(self, link: "pymysql.Connection[pymysql.cursors.Cursor]") -> bool:
        with link.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM PARTITION_KEY_VALS WHERE PART_ID >= 10000000")
            n_values = cursor.fetchone()
            cursor.execute("SELECT `DESC`, DB_LOCATION_URI FROM DBS WHERE DB_ID = 1000000")
            made = (str(AGES), f"file://{self.warehouse}")
            return (n_values, cursor.fetchone()) == ((self.n,), made)

    def make_directories(self) -> int:
        """Make the real directories, each with one file of its age; returns how many."""
        pattern = self.root / "ages.txt"
        if self.root.exists() and (not pattern.exists() or pattern.read_text() != str(AGES)):
            self.remove()
        self.warehouse.mkdir(parents=True, exist_ok=True)
        pattern.write_text(str(AGES))
        numbers = [n for n in range(1, self.n_tables + 1) if not self._table(n).exists()]
        with ProcessPoolExecutor(2) as pool:
            list(pool.map(self._make_table, numbers, chunksize=10))
        return self.n_tables * sum(there for _, _, there in AGES) * _BLOCK

    def remove(self) -> None:
        """Remove the directories."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _table(self, number: int) -> Path:
        return self.warehouse / f"t{number:05d}"

    def _make_table(self, number: int) -> None:
        place = self._table(number)
        fresh = place.with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        for part in range(PER_TABLE):
            _, age, there = AGES[part // _BLOCK]
            if not there:
                continue
            directory = fresh / f"dt={part:04d}"
            directory.mkdir()
            os.close(os.open(f"{directory}/part-00000", os.O_CREAT | os.O_WRONLY, 0o644))
            when = (NOW - age * DAY, NOW - age * DAY)
            os.utime(f"{directory}/part-00000", when)
            os.utime(directory, when)
        fresh.rename(place)
