"""What the list of tables shows of each by the last scan: size, partitions, TTL and what is due."""

from collections.abc import Sequence

from lifecycle.inventory.selectors.findings import tables_in_scan
from lifecycle.inventory.selectors.kept import complete_tables
from portal.catalog.models import Table
from portal.catalog.services.columns import TableColumn, Values

COLUMNS = (
    TableColumn("size", "Size", 10, "bytes"),
    TableColumn("partitions", "Partitions", 20, "count"),
    TableColumn("ttl", "TTL days", 30, "count", help="From the table's own parameters"),
    TableColumn("due", "Due", 40, "count"),
    TableColumn("due_soon", "Due soon", 50, "count"),
    TableColumn("first_due", "First due", 60, "day"),
)


def tables_columns(lake: str, tables: Sequence[Table]) -> Values:
    """Return the columns of each table that the last scan saw; what was dropped since is off."""
    keys = {(table.db, table.name): table.pk for table in tables}
    rows = list(tables_in_scan(lake, keys))
    complete_tables(rows)
    return {
        keys[row.db, row.table]: {
            "size": row.n_bytes,
            "partitions": row.n_partitions,
            "ttl": row.ttl,
            "due": row.n_clean_now,
            "due_soon": row.n_soon,
            "first_due": row.next_due_on,
        }
        for row in rows
    }
