"""Reads a lake's scopes with settings, those a person may see, and the tables that fit them.

The lake's own settings are everybody's. Of the rest a person sees what a table of theirs is under,
or a database that they administer; admins and operators see all. Names of tables are read once and
kept in order, so a scope is asked of those names alone that begin like it.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import django_filters as filters
from django.db.models import F, JSONField, OuterRef, Q, QuerySet, Subquery

from optimizer.core.selectors.tables import IS_THERE
from optimizer.models import HudiTable, IcebergTable, PolicyVersion
from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat
from optimizer.policies.domain.policy import Level, LevelKind, kind_of_scope
from optimizer.policies.selectors.policies import policy_current, policy_history
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible, RuleViolation
from portal.ui.lists.filters import ListFilter, prefix

SCOPE_ORDERS = {"scope": ("scope",), "-at": ("-at",)}
HISTORY_ORDERS = {"-version": ("-version",), "version": ("version",)}
NAMES_AT_MOST = 20_000
TABLES_SHOWN = 100
_WILD = Q(scope__contains="*") | Q(scope__contains="?")
_OF_KIND = {
    LevelKind.LAKE: Q(scope="*"),
    LevelKind.DATABASES: ~Q(scope="*") & ~Q(scope__contains="."),
    LevelKind.TABLES: Q(scope__contains=".") & _WILD,
    LevelKind.TABLE: Q(scope__contains=".") & ~_WILD,
}
TABLES: Mapping[TableFormat, type[IcebergTable | HudiTable]] = {
    TableFormat.ICEBERG: IcebergTable,
    TableFormat.HUDI: HudiTable,
}
KIND_WORDS = {
    LevelKind.LAKE: "the lake",
    LevelKind.DATABASES: "databases",
    LevelKind.TABLES: "pattern of tables",
    LevelKind.TABLE: "table",
}


@dataclass(frozen=True, slots=True)
class TableNames:
    """The tables that a person sees, by name; `is_whole` is False where there are more."""

    # In small letters, for the order; then database, table and key.
    names: Sequence[tuple[str, str, str, int]]
    is_whole: bool

    def under(self, scope: str) -> Iterator[tuple[str, str, int]]:
        """Yield the tables that a scope fits, by name: database, table and key."""
        level = Level(scope, {})
        begins = "" if scope == "*" else scope.lower().replace("?", "*").partition("*")[0]
        for place in range(bisect_left(self.names, (begins,)), len(self.names)):
            name, db, table, key = self.names[place]
            if not name.startswith(begins):
                return
            if level.fits(db, table):
                yield db, table, key

    def count(self, scope: str) -> int:
        """Count the tables that a scope fits."""
        return len(self.names) if scope == "*" else sum(1 for _ in self.under(scope))


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """What stands at one scope now, and how many of the person's tables it fits."""

    pk: int
    lake: str
    scope: str
    level: str
    version: int
    format: str
    values: Mapping[str, object]
    n_tables: int
    by: str
    at: datetime
    reason: str

    @classmethod
    def of(cls, row: PolicyVersion, names: TableNames) -> "ScopeRow":
        """Count the tables that a scope fits."""
        return cls(
            row.pk,
            row.lake,
            row.scope,
            KIND_WORDS[kind_of_scope(row.scope)],
            row.version,
            row.format,
            row.values,
            names.count(row.scope),
            row.by,
            row.at,
            row.reason,
        )

    def __str__(self) -> str:
        return self.scope


def _sets(table_format: TableFormat) -> filters.ChoiceFilter:
    return filters.ChoiceFilter(
        choices=[(name, name) for name in POLICY_SCHEMAS[table_format].fields],
        label="Sets",
        empty_label="Any",
        method="filter_sets",
    )


class ScopeFilter(ListFilter):
    """Scopes by how they begin, level, what they set, and who said so last."""

    scope = prefix("scope", "Scope")
    level = filters.ChoiceFilter(
        choices=[(kind.name, KIND_WORDS[kind].capitalize()) for kind in LevelKind],
        label="Level",
        empty_label="Any",
        method="filter_level",
    )
    sets = _sets(TableFormat.ICEBERG)
    by = filters.CharFilter(label="Set by")

    class Meta:
        model = PolicyVersion
        fields: list[str] = []

    def filter_level(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep one level."""
        return rows.filter(_OF_KIND[LevelKind[value]])

    def filter_sets(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep the scopes that name a setting."""
        return rows.filter(values__has_key=value)


class HudiScopeFilter(ScopeFilter):
    """The same of what holds for Hudi tables."""

    sets = _sets(TableFormat.HUDI)

    class Meta(ScopeFilter.Meta):
        pass


SCOPE_FILTERS: Mapping[TableFormat, type[ScopeFilter]] = {
    TableFormat.ICEBERG: ScopeFilter,
    TableFormat.HUDI: HudiScopeFilter,
}


class VersionFilter(ListFilter):
    """Versions of one scope by who set them."""

    by = filters.CharFilter(label="Set by")

    class Meta:
        model = PolicyVersion
        fields: list[str] = []


def table_names(
    lake: str, user: User, table_format: TableFormat = TableFormat.ICEBERG
) -> TableNames:
    """Read the names of the tables that are there and that the person sees, in one question."""
    rows = _tables_of(lake, user, table_format).filter(IS_THERE).order_by("db", "table")
    found = list(rows.values_list("db", "table", "pk")[: NAMES_AT_MOST + 1])
    names = sorted((f"{db}.{table}".lower(), db, table, pk) for db, table, pk in found)
    return TableNames(names[:NAMES_AT_MOST], is_whole=len(found) <= NAMES_AT_MOST)


def scopes_visible(
    lake: str, user: User, names: TableNames, table_format: TableFormat = TableFormat.ICEBERG
) -> QuerySet[PolicyVersion]:
    """Return what stands at the scopes that the person may see, unordered."""
    rows = PolicyVersion.objects.filter(lake=lake, format=table_format, is_current=True)
    if user.is_lake_staff_of(lake):
        return rows
    mine = [
        pk
        for pk, scope in rows.order_by("pk").values_list("pk", "scope")
        if _is_visible(lake, scope, user, names)
    ]
    return rows.filter(pk__in=mine)


def get_scope_for_user(
    lake: str,
    scope: str,
    user: User,
    names: TableNames,
    table_format: TableFormat = TableFormat.ICEBERG,
) -> PolicyVersion:
    """Return what stands at one scope.

    Raises:
        NotVisible: `policy.scope`, nothing was ever set there, or not for this person to see.
    """
    found = policy_current(lake, scope, table_format)
    is_seen = user.is_lake_staff_of(lake) or _is_visible(lake, scope.lower(), user, names)
    if found is None or not is_seen:
        raise NotVisible("policy.scope", "There is no policy of this scope for you.")
    return found


def scope_of_table(table: IcebergTable | HudiTable) -> str | None:
    """Return the scope of a table alone; None where its name cannot be written as one."""
    scope = str(table).lower()
    try:
        return scope if kind_of_scope(scope) is LevelKind.TABLE else None
    except RuleViolation:
        return None


def format_of(table: IcebergTable | HudiTable) -> TableFormat:
    """Say of which format a table is."""
    return TableFormat.HUDI if isinstance(table, HudiTable) else TableFormat.ICEBERG


def table_of_scope(
    lake: str, scope: str, user: User, table_format: TableFormat = TableFormat.ICEBERG
) -> IcebergTable | HudiTable | None:
    """Return the table that a scope names, the one that is there before one that is gone."""
    db, _, table = scope.partition(".")
    rows = _tables_of(lake, user, table_format).filter(db=db, table=table)
    return rows.order_by("is_deleted", "-pk").first()


def history_of(
    lake: str, scope: str, table_format: TableFormat = TableFormat.ICEBERG
) -> QuerySet[PolicyVersion]:
    """Give the versions of one scope, unordered; each with `before`, what stood there before it."""
    rows = policy_history(lake, scope, table_format).order_by()
    same = rows.filter(version=OuterRef("earlier")).values("values")[:1]
    return rows.alias(earlier=F("version") - 1).annotate(
        before=Subquery(same, output_field=JSONField())
    )


def _tables_of(
    lake: str, user: User, table_format: TableFormat
) -> QuerySet[IcebergTable] | QuerySet[HudiTable]:
    return TABLES[table_format].objects.filter(visible_to(user), lake=lake)


def _is_visible(lake: str, scope: str, user: User, names: TableNames) -> bool:
    if scope == "*" or scope in user.administered.get(lake, []):
        return True
    try:
        return next(names.under(scope), None) is not None
    except RuleViolation:  # what is no scope has no tables
        return False
