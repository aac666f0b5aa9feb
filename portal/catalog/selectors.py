"""Queries of the catalog."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet

from portal.access.models import User
from portal.access.visibility import visible_to
from portal.catalog.domain.entries import Name
from portal.catalog.domain.health import HealthLevel
from portal.catalog.models import HealthRound, SavedView, Table, TablePart
from portal.lake.errors import NotVisible

OWNERS = ("owner", "db_owner")
"""Whose rows they are: that of the table, and that of its database."""

PARTS = Prefetch("parts", TablePart.objects.order_by("-level", "part"), to_attr="judged")
"""The parts of tables' health as judged last, the worst first."""


def tables_living(lake: str) -> QuerySet[Table]:
    """Return the tables of a lake that exist, as far as events and scans say."""
    # Compared with a value: SQLite would use no index of a column that stands alone.
    return Table.objects.filter(lake=lake, is_living__in=(True,))


def tables_visible(lake: str, user: User) -> QuerySet[Table]:
    """Return those of them that the person may see."""
    return tables_living(lake).filter(_mine(user, lake))


def get_table_for_user(lake: str, db: str, name: str, *, user: User) -> Table:
    """Return the table that has the name now; else the last one that had it, as deleted.

    Raises:
        NotVisible: there is none for this person.
    """
    named = Table.objects.filter(_mine(user, lake), db=db, name=name)
    # Few rows: deleted ones are kept for a while only.
    found = named.order_by("-is_living", "-deleted_at").first()
    if found is None:
        raise NotVisible(
            "catalog.table", f"There is no table {db}.{name} for you.", db=db, table=name
        )
    return found


def table_or_none(lake: str, db: str, name: str, *, user: User) -> Table | None:
    """Return the table that has the name now, None where there is none for the person."""
    return tables_visible(lake, user).filter(db=db, name=name).first()


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


def _mine(user: User, lake: str) -> Q:
    return visible_to(user, owners=OWNERS, of_lake=lake)


def saved_views(lake: str, user: User) -> QuerySet[SavedView]:
    """Return the views of the list of tables that the person keeps, by name."""
    return SavedView.objects.filter(lake=lake, username=user.username).order_by("name")


def has_part(part: str, level: HealthLevel | None) -> Q:
    """Return the condition for tables of which a part has this level, or (None) is not in order.

    A table is at least as bad as its part. Said here, so that the order of the list can be walked
    from its worst end, each table's part looked up by its key.
    """
    parts = TablePart.objects.filter(table=OuterRef("pk"), part=part)
    if level is None:
        worse = parts.filter(level__gte=HealthLevel.WARN)
        return Q(Exists(worse), level__gte=HealthLevel.WARN)
    return Q(Exists(parts.filter(level=level)), level__gte=level)


def with_parts(tables: QuerySet[Table]) -> QuerySet[Table]:
    """Return tables with the parts of their health as judged last, the worst first."""
    return tables.prefetch_related(PARTS)


def health_as_of(lake: str) -> datetime | None:
    """Return when the health of the lake's tables was judged: none is older. None: not yet."""
    return HealthRound.objects.filter(lake=lake).values_list("judged_at", flat=True).first()


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """How the tables of a database stand: how many at each level, of the whole and of each part."""

    n_tables: int
    levels: Mapping[HealthLevel, int]
    parts: Mapping[str, Mapping[HealthLevel, int]]
    owners: tuple[str, ...]


def get_database_for_user(lake: str, db: str, *, user: User) -> DatabaseHealth:
    """Add up the tables of a database that the person may see.

    Raises:
        NotVisible: there is none for this person.
    """
    tables = tables_visible(lake, user).filter(db=db).order_by()
    levels = {
        HealthLevel(level): n for level, n in tables.values_list("level").annotate(n=Count("pk"))
    }
    if not levels:
        raise NotVisible("catalog.database", f"There is no database {db} for you.", db=db)
    parts: dict[str, dict[HealthLevel, int]] = {}
    rows = TablePart.objects.filter(table__in=tables).order_by()
    for part, level, n in rows.values_list("part", "level").annotate(n=Count("pk")):
        parts.setdefault(part, {})[HealthLevel(level)] = n
    owners = tables.exclude(db_owner="").values_list("db_owner", flat=True).distinct()
    return DatabaseHealth(sum(levels.values()), levels, parts, tuple(sorted(owners)))
