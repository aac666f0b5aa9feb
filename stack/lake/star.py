"""A small star schema that a dashboard sums up: its tables, what is wanted of one, and its cube.

Orders name a product and a shop, and a product its maker. Nothing here needs Spark; `star_write.py`
does.
"""

from collections.abc import Mapping

from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE

ORDERS = TableName(LakeId(LAKE), "sales", "orders_star")
PRODUCTS = TableName(LakeId(LAKE), "sales", "star_products")
MAKERS = TableName(LakeId(LAKE), "sales", "star_makers")
SHOPS = TableName(LakeId(LAKE), "sales", "star_shops")
OWNER = "alice"
POLICY: Mapping[str, object] = {"is_on": True, "min_interval_minutes": 1}
CUBE: Mapping[str, object] = {
    "name": "by_maker",
    "table": {"name": "sales.orders_star"},
    "time_zone": "UTC",
    "joins": [
        {
            "alias": "product",
            "table": "sales.star_products",
            "on": [["fact.product_id", "product_id"]],
        },
        {"alias": "maker", "table": "sales.star_makers", "on": [["product.maker_id", "maker_id"]]},
        {"alias": "shop", "table": "sales.star_shops", "on": [["fact.shop_id", "shop_id"]]},
    ],
    "dimensions": [
        {"name": "maker", "expression": "maker.maker", "type": "string"},
        {"name": "category", "expression": "product.category", "type": "string"},
        {"name": "city", "expression": "shop.city", "type": "string"},
        {"name": "ordered_on", "expression": "fact.ordered_on", "type": "date"},
    ],
    "measures": [
        {
            "name": "revenue",
            "expression": "fact.revenue",
            "type": "decimal(10,2)",
            "functions": ["sum", "count"],
        },
        {"name": "pieces", "expression": "fact.pieces", "type": "int", "functions": ["sum", "max"]},
    ],
    "star_tree": {"max_leaf": 10, "dimensions": [], "skip_star": []},
}
"""As docs/cubes.md has it; builders add uuids and field ids."""


def is_there(metastore: Metastore) -> bool:
    """Whether the lake has the tables; one that was made by an earlier version has none."""
    return metastore.table_or_none(ORDERS) is not None
