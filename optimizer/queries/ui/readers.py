"""Names the recorded queries that read a table, to whoever is about to change it."""

from optimizer.queries.selectors import shapes_reading
from optimizer.queries.ui.pages import shape_url
from portal.access.models import User
from portal.catalog.services.readers import Reader, register_table_readers

MOST = 20
_SHOWN = 120


def readers_by_shape(lake: str, db: str, table: str, user: User) -> list[Reader]:
    """Return the shapes of queries that read a table, as its readers."""
    return [
        Reader(
            kind="Recorded query",
            name=row.text[:_SHOWN] or row.digest,
            url=shape_url(row),
            detail=f"{row.n_queries:,} in four weeks by {row.engine}",
            last_at=row.last_at,
        )
        for row in shapes_reading(lake, db, table, user)[:MOST]
    ]


def register_readers() -> None:
    """Tell the platform of the queries that read a table."""
    register_table_readers(readers_by_shape)
