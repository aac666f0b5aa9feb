"""A catalog of tables with their names in the index, for tests of the search."""

from datetime import datetime

from portal.access.models import User
from portal.catalog.models import Table
from portal.search.selectors.tables import databases_found, tables_found
from portal.search.services.index import index_catch_up

LAKE = "main"


def catalogued(*names: str, owner: str = "olga", now: datetime) -> list[Table]:
    """Write tables into the catalog as a scan does, and their names into the index."""
    rows = [
        Table(
            lake=LAKE,
            db=db,
            name=name,
            format="iceberg",
            owner=owner,
            event_id=1,
            first_seen_at=now,
            last_seen_at=now,
        )
        for db, _, name in (full.partition(".") for full in names)
    ]
    Table.objects.bulk_create(rows)
    index_catch_up(LAKE, now=now)
    return rows


def found(user: User, text: str) -> list[str]:
    """Return the names of the tables that are found, in order."""
    return [str(row) for row in tables_found(user, LAKE, text, 8)]


def databases(user: User, text: str) -> list[str]:
    """Return the databases that are found, in order."""
    return databases_found(user, LAKE, text, 8)
