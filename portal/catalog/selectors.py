"""Queries of the catalog."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Q, QuerySet

from portal.access.models import User
from portal.access.visibility import visible_to
from portal.catalog.domain.entries import Name
from portal.catalog.models import Table


def tables_living(lake: str) -> QuerySet[Table]:
    """Return the tables of a lake that exist, as far as events and scans say."""
    return Table.objects.filter(lake=lake, is_living=True)


def tables_visible(lake: str, user: User) -> QuerySet[Table]:
    """Return those of them that the person may see."""
    return tables_living(lake).filter(visible_to(user, owners=("owner", "db_owner")))


def tables_by_name(lake: str, names: Iterable[Name]) -> dict[Name, Table]:
    """Return the tables that have these names now, by one query; others are left out."""
    return {(row.db, row.name): row for row in tables_living(lake).filter(is_named(names))}


def is_named(names: Iterable[Name], *, column: str = "name") -> Q:
    """Return the condition for rows with one of these names: of `db` and, in `column`, a table."""
    of_db: defaultdict[str, list[str]] = defaultdict(list)
    for db, name in names:
        of_db[db].append(name)
    wanted = Q(pk__in=())
    for db, some in of_db.items():
        wanted |= Q(**{"db": db, f"{column}__in": some})
    return wanted
