"""An Iceberg table of log lines that people search by id and by words: its name, form and indexes.

Least and greatest values do not help such searches, so every one opens every file; file indexes do.
Nothing here needs Spark; `web_logs_write.py` does.
"""

from collections.abc import Mapping

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE

LOGS = TableName(LakeId(LAKE), "sales", "web_logs")
OWNER = "alice"
POLICY: Mapping[str, object] = {
    "is_on": True,
    "kinds": ["INDEX"],
    # Its files have that size: packed into few there would be little to leave out.
    "target_bytes": 1024**2,
    "index_columns": ["request_id:bloom", "message:ngram_bloom"],
    "min_interval_minutes": 1,
}


def is_there(metastore: Metastore) -> bool:
    """Whether the lake has the table; one that was made by an earlier version has none."""
    return metastore.table_or_none(LOGS) is not None
