"""What the demo makes of the shop's captured orders: an aggregate, and a table of facts.

    python -m stack.lake.shop_tables LAKES_JSON MARK

Both need a table that the capture makes a minute or two after the demo's start: it is waited for,
so that the start waits for nothing. MARK is a file that says afterwards that they are defined.
"""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import django
from django.core.management import call_command

from portal.connectors.lake_config import load_lakes
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.lake.plan import SHOP
from stack.stack import LAKE

CAPTURED = [TableName(LakeId(LAKE), SHOP.name, table) for table in ("customers", "orders")]
REVENUE = "shop.revenue_by_day"
REVENUE_SQL = """SELECT to_date(ordered_at) AS day, state,
  count(*) AS n_orders, sum(total) AS revenue, max(total) AS dearest
FROM shop.orders
GROUP BY to_date(ordered_at), state"""
FACTS = "shop.order_facts"
FACTS_LAYER: Mapping[str, object] = {
    "target": FACTS,
    "sources": [{"table": "shop.orders"}, {"table": "shop.customers", "is_static": True}],
    "key": ["id"],
    "sql": """SELECT o.id, o.customer_id, c.city, o.state, o.total, o.ordered_at,
  date_format(o.ordered_at, 'yyyy-MM-dd') AS dt
FROM shop.orders o LEFT JOIN shop.customers c ON c.id = o.customer_id""",
    "partition": "dt",
    "event_time": "ordered_at",
    "lateness_minutes": 5,
}
_REFRESHED, _ADVANCED = 60, 15
"""Every so many minutes: each is a start of Spark, and people may ask for one at any time."""
_MAX_LAG_MINUTES = 120
_BEAT_SECONDS, _PATIENCE_SECONDS = 5.0, 1800.0


def wait_captured(lakes: Path) -> bool:
    """Wait until the lake has the captured tables; returns False where they do not come."""
    config = load_lakes(lakes)[LAKE]
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until:
        try:
            with Metastore.connect(config) as metastore:
                if all(metastore.table_or_none(one) is not None for one in CAPTURED):
                    return True
        except ExternalFailure as error:
            print(error, flush=True)
        time.sleep(_BEAT_SECONDS)
    return False


def main() -> None:
    """Wait, then define both; what is defined already stays as it is."""
    lakes, mark = Path(sys.argv[1]), Path(sys.argv[2])
    if not wait_captured(lakes):
        sys.exit("The shop's tables did not come into the lake.")
    django.setup()
    times = (f"--every={_REFRESHED}", f"--max-lag={_MAX_LAG_MINUTES}")
    of_alice = ("--user", SHOP.owner, "--lake", LAKE, *times)
    call_command("materialization", REVENUE, REVENUE_SQL, *of_alice)
    by_time = (f"--every={_ADVANCED}", "--by-time-only")
    call_command("layer", json.dumps(FACTS_LAYER), "--lake", LAKE, *by_time)
    mark.touch()


if __name__ == "__main__":
    main()
