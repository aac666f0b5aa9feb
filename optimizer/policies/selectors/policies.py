"""Resolves a table's policy, the scope that sets each field, and earlier versions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from optimizer.models import PolicyVersion
from optimizer.policies.domain.formats import POLICY_SCHEMAS, AnyResolved, TableFormat, is_built_in
from optimizer.policies.domain.policy import Level, Policy, resolve


@dataclass(frozen=True, slots=True)
class TablePolicy:
    """The policy of one table; `versions` are the rows that say any of it."""

    policy: Policy
    sources: Mapping[str, str]
    versions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LakePolicies:
    """All policies of a lake, read once: resolving a table asks the database nothing more."""

    levels: Sequence[Level]
    ids: Mapping[str, int]

    def of(self, db: str, table: str) -> TablePolicy:
        """Resolve one table's policy."""
        found = resolve(self.levels, db=db, table=table)
        return TablePolicy(found.policy, found.sources, versions_in(found, self.ids))


def policies_of(lake: str) -> LakePolicies:
    """Read the current policies of a lake's Iceberg tables, in one query."""
    return LakePolicies(*levels_of(lake, TableFormat.ICEBERG))


def levels_of(lake: str, table_format: TableFormat) -> tuple[list[Level], dict[str, int]]:
    """Read what stands at each scope of a lake for tables of a format, and the rows' keys."""
    rows = list(PolicyVersion.objects.filter(lake=lake, format=table_format, is_current=True))
    read = POLICY_SCHEMAS[table_format].read
    return [Level(row.scope, read(row.values)) for row in rows], {row.scope: row.pk for row in rows}


def versions_in(found: AnyResolved, ids: Mapping[str, int]) -> tuple[int, ...]:
    """Return the rows that say any of a policy, by the keys of their scopes."""
    scopes = {source for source in found.sources.values() if not is_built_in(source)}
    return tuple(ids[scope] for scope in sorted(scopes))


def inherited_by(
    lake: str, scope: str, table_format: TableFormat = TableFormat.ICEBERG
) -> AnyResolved:
    """Return what would hold at a scope without settings of its own."""
    own = Level(scope, {})
    levels, _ = levels_of(lake, table_format)
    wider = [one for one in levels if one.order < own.order]
    return POLICY_SCHEMAS[table_format].resolve_scope(wider, scope)


def policy_current(
    lake: str, scope: str, table_format: TableFormat = TableFormat.ICEBERG
) -> PolicyVersion | None:
    """Return what stands at one scope now."""
    rows = PolicyVersion.objects.filter(lake=lake, format=table_format, is_current=True)
    return rows.filter(scope=scope.lower()).first()


def policy_history(
    lake: str, scope: str, table_format: TableFormat = TableFormat.ICEBERG
) -> QuerySet[PolicyVersion]:
    """Return all versions of one scope, newest first."""
    rows = PolicyVersion.objects.filter(lake=lake, format=table_format, scope=scope.lower())
    return rows.order_by("-version")
