"""The Iceberg table behind a table of the catalog, for its tabs."""

from optimizer.iceberg.tables.selectors.tables import tables_named, tables_of
from optimizer.models import IcebergTable
from portal.access.models import User
from portal.catalog.models import Table
from portal.lake.errors import NotVisible


def get_table_of(table: Table) -> IcebergTable:
    """Return what is known of a table of the catalog that the person was shown.

    Raises:
        NotVisible: `optimizer.table`.
    """
    row = tables_named(table.lake, [(table.db, table.name)]).first()
    if row is None:
        raise NotVisible("optimizer.table", "There is no such table for you.", table=str(table))
    return row


def is_known(table: Table, user: User) -> bool:
    """Whether the person sees an Iceberg table behind a table of the catalog."""
    rows = tables_of(table.lake, user)
    return rows.filter(db=table.db, table=table.name, is_deleted=False).exists()
