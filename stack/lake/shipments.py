"""An Iceberg table of shipments, loaded by time and asked by product and shop: its name and form.

No order of rows suits those questions, so that advice has something to find. Nothing here needs
Spark; `shipments_write.py` does.
"""

from collections.abc import Mapping

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE

SHIPMENTS = TableName(LakeId(LAKE), "sales", "shipments")
OWNER = "alice"
N_PRODUCTS, N_SHOPS = 1_000, 200
POLICY: Mapping[str, object] = {
    "is_on": True,
    # Its files have that size: packed into few there would be little to leave out.
    "target_bytes": 1024**2,
    "min_interval_minutes": 1,
    "advice": "auto",
}


def is_there(metastore: Metastore) -> bool:
    """Whether the lake has the table; one that was made by an earlier version has none."""
    return metastore.table_or_none(SHIPMENTS) is not None
