"""Writes the table of log lines, one file for every hour and machine."""

from datetime import datetime, timedelta

from pyspark.sql import SparkSession

from stack.lake.session import ICEBERG
from stack.lake.web_logs import LOGS, OWNER

N_FILES = 48
ROWS_A_FILE = 4_000
_COLUMNS = "at timestamp, level string, request_id string, message string, context string"
_PAGES = ("basket", "checkout", "home", "product", "search")
# One hour in so many had trouble; its files alone hold the words that somebody looks for.
_TROUBLE_EVERY = 16
# Sealed context of a request. It fills each file to the least size that a policy may ask for, so
# that there are files to leave out and none that packing would take away.
_SEALS = 6


def make_web_logs(
    spark: SparkSession, table: str = f"{ICEBERG}.{LOGS.db}.{LOGS.table}", *, now: datetime
) -> None:
    """Make the table by its name in Spark; one that has rows is left as it is."""
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {table} ({_COLUMNS}) USING iceberg TBLPROPERTIES "
        f"('hive.metastore.table.owner' = '{OWNER}', 'format-version' = '2', "
        "'write.distribution-mode' = 'none')"
    )
    if spark.table(f"{table}.snapshots").limit(1).count():
        return
    since = (now - timedelta(hours=N_FILES)).replace(minute=0, second=0, microsecond=0)
    pages = ", ".join(f"'{page}'" for page in _PAGES)
    lines = spark.range(0, N_FILES * ROWS_A_FILE, 1, N_FILES).selectExpr(
        f"cast(id / {ROWS_A_FILE} AS int) hour",
        f"id % {ROWS_A_FILE} line",
        f"element_at(array({pages}), cast(rand(1) * {len(_PAGES)} AS int) + 1) page",
        "cast(5 + rand(2) * 900 AS int) ms",
        "sha2(cast(id AS string), 256) request",
    )
    seals = ", ".join(f"sha2(concat(request, {n}), 256)" for n in range(_SEALS))
    bad = f"hour % {_TROUBLE_EVERY} = 5 AND line % 400 = 7"
    lines.selectExpr(
        f"timestamp_micros(cast({since.timestamp()} * 1e6 AS bigint) + hour * 3600000000L "
        f"+ line * {3_600_000_000 // ROWS_A_FILE}) at",
        f"if({bad}, 'ERROR', 'INFO') level",
        "substr(request, 1, 24) request_id",
        f"if({bad}, concat('POST /pay failed: gateway timeout after ', ms + 30000, ' ms'), "
        "concat('GET /', page, '/', substr(request, 30, 6), ' 200 in ', ms, ' ms')) message",
        f"concat({seals}) context",
    ).writeTo(table).append()
