"""Names the recorded queries that read a table, to whoever is about to change it."""

from optimizer.models import TopShapeTable
from optimizer.queries.selectors import top_shapes_visible
from optimizer.queries.ui.pages import shape_url
from portal.access.models import User
from portal.catalog.services.readers import Reader, register_table_readers

MOST = 20
_SHOWN = 120


def shapes_reading(lake: str, db: str, table: str, user: User) -> list[Reader]:
    """Return the shapes of queries that read a table, those that took most time first."""
    reading = TopShapeTable.objects.filter(db=db, table=table).values("shape")
    rows = top_shapes_visible(lake, user).filter(pk__in=reading).order_by("-seconds")[:MOST]
    return [
        Reader(
            kind="Recorded query",
            name=row.text[:_SHOWN] or row.digest,
            url=shape_url(row),
            detail=f"{row.n_queries:,} in four weeks by {row.engine}",
            last_at=row.last_at,
        )
        for row in rows
    ]


def register_readers() -> None:
    """Tell the platform of the queries that read a table."""
    register_table_readers(shapes_reading)
