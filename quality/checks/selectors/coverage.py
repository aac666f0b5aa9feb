"""Queries of tables without any rule."""

from django.db.models import Exists, OuterRef, QuerySet

from portal.access.models import User
from portal.catalog.models import Table
from portal.catalog.selectors import tables_living, tables_visible
from portal.ui.lists.filters import ListFilter, prefix
from quality.models import CheckSet

COVERAGE_ORDERS = {"table": ("db", "name"), "-table": ("-db", "-name")}


class CoverageFilter(ListFilter):
    """Tables by name, owner and format."""

    db = prefix("db", "Database")
    table = prefix("name", "Table")
    owner = prefix("owner", "Owner")
    table_format = prefix("format", "Format")

    class Meta:
        model = Table
        fields: list[str] = []


def tables_without_checks(lake: str, user: User) -> QuerySet[Table]:
    """Return the tables that the person may see and that have no checks."""
    return _without(tables_visible(lake, user))


def n_without_checks(lake: str) -> int:
    """Count all tables of a lake that have no checks."""
    return _without(tables_living(lake)).count()


def _without(tables: QuerySet[Table]) -> QuerySet[Table]:
    own = CheckSet.objects.filter(lake=OuterRef("lake"), db=OuterRef("db"), table=OuterRef("name"))
    return tables.exclude(Exists(own))
