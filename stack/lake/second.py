"""Makes the demo's second lake: few tables, some of the same names as in the first."""

import shutil
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from portal.connectors.lake_config import load_lakes
from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.lake.ages import age_table
from stack.lake.live import live_of, make_live
from stack.lake.make import make_databases, say, user_root
from stack.lake.session import open_session
from stack.lake.specs import DatabaseSpec, Part, TableSpec
from stack.lake.write import write_table
from stack.servers.second_lake import LAKE

DATABASES = (
    DatabaseSpec("sales", "erin", "erin/sales.db", comment="What researchers may see of sales"),
    DatabaseSpec("trials", "carol", "carol/trials.db", comment="Measurements of trials"),
    DatabaseSpec("live", "bob", "bob/live.db", comment="A table that is written all the time"),
)


def _days(today: date, n: int) -> list[Part]:
    return [Part((str(today - timedelta(days=age)),), age) for age in range(n)]


def tables(today: date) -> list[TableSpec]:
    """Return the tables; `sales.orders` and `sales.customers` are in the first lake too."""
    dt = ("dt",)
    return [
        TableSpec("sales", "orders", keys=dt, parts=_days(today, 40), ttl="30"),
        TableSpec("sales", "customers", ttl="90"),
        TableSpec("trials", "measurements", keys=dt, parts=_days(today, 60), ttl="45"),
    ]


def clear(metastore: Metastore, root: Path) -> None:
    """Remove what is there of the lake: a demo that was broken off may have left a part of it."""
    known = set(metastore.databases())
    for spec in DATABASES:
        if spec.name in known:
            for table in metastore.tables(spec.name):
                name = TableName(LakeId(LAKE), spec.name, table)
                metastore.drop_table(name, delete_data=True)
            metastore.drop_empty_database(spec.name)
        shutil.rmtree(root / spec.location, ignore_errors=True)


def main() -> None:
    """Make the databases and their tables, whatever is there of them."""
    config, now = load_lakes(Path(sys.argv[1]))[LAKE], datetime.now(UTC)
    root, owners = user_root(config), {spec.name: spec.owner for spec in DATABASES}
    with Metastore.connect(config, timeout_seconds=300) as metastore:
        clear(metastore, root)
        make_databases(metastore, DATABASES, root=root)
        spark = open_session(config, formats=False)
        for table in tables(now.date()):
            write_table(spark, table, location="")
            age_table(metastore, table, owner=owners[table.db], now=now.timestamp())
            say(f"{table.db}.{table.name} of {LAKE}")
        make_live(metastore, live_of(LAKE), now=now)


if __name__ == "__main__":
    main()
