"""Two Iceberg tables of clicks: their names, their form, and what is wanted of one of them.

Both begin with a few days of many small files, as a stream leaves them. One of them is written on
(`stream.py`) and looked after by the optimizer; the other is left as it is, to be compared with.
Nothing here needs Spark: whoever starts the writer asks this file too.
"""

from collections.abc import Mapping

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE

LIVE = TableName(LakeId(LAKE), "sales", "clicks_live")
LEFT = TableName(LakeId(LAKE), "sales", "clicks_left")
OWNER = "alice"
COMMITS = 40
COMMITS_VARIABLE = "LAKEWARDEN_STREAM_COMMITS"
POLICY: Mapping[str, object] = {
    "is_on": True,
    "target_bytes": 1024**2,
    "layout": "hilbert(user_id,page)",
    "min_interval_minutes": 1,
}

_COLUMNS = "at timestamp, user_id bigint, page string, country string, ms int, session string"
_PROPERTIES: Mapping[str, str] = {
    "hive.metastore.table.owner": OWNER,
    "format-version": "2",
    "write.distribution-mode": "none",
    "write.delete.mode": "merge-on-read",
}


def is_there(metastore: Metastore) -> bool:
    """Whether the lake has the table; one that was made by an earlier version has none."""
    return metastore.table_or_none(LIVE) is not None


def create_sql(table: str) -> str:
    """Return the statement that makes a table by its name in Spark; twice is harmless."""
    said = ", ".join(f"'{key}' = '{value}'" for key, value in _PROPERTIES.items())
    return (
        f"CREATE TABLE IF NOT EXISTS {table} ({_COLUMNS}) USING iceberg "
        f"PARTITIONED BY (days(at)) TBLPROPERTIES ({said})"
    )
