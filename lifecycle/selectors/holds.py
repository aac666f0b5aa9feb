"""Which holds stand on what this person may see?"""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from lifecycle.selectors.findings import databases_visible, tables_visible
from portal.access.models import User
from portal.act.models import Hold
from portal.act.selectors import holds_active


def holds_visible(lake: str, user: User, *, now: datetime) -> QuerySet[Hold]:
    """Give the standing holds on databases and tables that `user` sees, and their own."""
    rows = holds_active(lake, now=now)
    if user.is_lake_admin or user.is_lake_operator:
        return rows
    databases = databases_visible(lake, user).filter(db=OuterRef("db"))
    tables = tables_visible(lake, user).filter(db=OuterRef("db"))
    return rows.filter(
        Q(placed_by=user.username)
        | Q(Exists(databases))
        | Q(Exists(tables.filter(table=OuterRef("table"))))
        | (Q(table="") & Q(Exists(tables)))
    )
