"""A lake of which olga owns any number of due tables in a database that notifies."""

from datetime import UTC, datetime

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import ScanSnapshot
from portal.connectors.lake_config import LakeConfig
from tests.component.lifecycle.scanned import scan, set_mode
from tests.support.scan_results import Item, Picture, Table

AUGUST = datetime(2026, 8, 1, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 15, tzinfo=UTC)
DUE = Item(ExpiryClass.CLEAN_NOW, "dt=2026-08-01", AUGUST)
ALSO_DUE = Item(ExpiryClass.CLEAN_NOW, "dt=2026-08-02", AUGUST)
READ = Item(ExpiryClass.STILL_READ, "dt=2026-08-03", AUGUST, read=NOVEMBER)
SOON = Item(ExpiryClass.SOON, "dt=2026-09-24", datetime(2026, 9, 24, tzinfo=UTC))
FRESH = Item(ExpiryClass.NOT_NOW, "dt=2026-11-01", datetime(2026, 11, 1, tzinfo=UTC))


def table(n: int, *items: Item, owner: str = "olga") -> Table:
    """Return the table `sales.t<n>`."""
    return Table("sales", f"t{n}", 1_000 + n, owner=owner, items=items or (DUE,))


def scan_tables(lake: LakeConfig, *tables: Table, now: datetime) -> ScanSnapshot:
    """Load a scan of some tables of `sales`."""
    set_mode("sales", "NOTIFY")
    return scan(lake, Picture(owners={"sales": "sara"}, tables=tables, findings=()), now=now)
