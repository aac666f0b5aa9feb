"""Which policy holds for a table, which scope says each field, and what stood there before?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from optimizer.domain.policy import BUILT_IN, Level, Policy, Resolved, resolve, resolve_scope
from optimizer.domain.policy_values import read_values
from optimizer.models import PolicyVersion


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
        scopes = sorted({source for source in found.sources.values() if source != BUILT_IN})
        return TablePolicy(found.policy, found.sources, tuple(self.ids[scope] for scope in scopes))


def policies_of(lake: str) -> LakePolicies:
    """Read the current policies of a lake, in one query."""
    rows = list(PolicyVersion.objects.filter(lake=lake, is_current=True))
    return LakePolicies(
        [Level(row.scope, read_values(row.values)) for row in rows],
        {row.scope: row.pk for row in rows},
    )


def inherited_by(lake: str, scope: str) -> Resolved:
    """Give what would hold at a scope without settings of its own."""
    own = Level(scope, {})
    wider = [one for one in policies_of(lake).levels if one.order < own.order]
    return resolve_scope(wider, scope)


def policy_current(lake: str, scope: str) -> PolicyVersion | None:
    """Give what stands at one scope now."""
    return PolicyVersion.objects.filter(lake=lake, scope=scope.lower(), is_current=True).first()


def policy_history(lake: str, scope: str) -> QuerySet[PolicyVersion]:
    """Give all versions of one scope, newest first."""
    return PolicyVersion.objects.filter(lake=lake, scope=scope.lower()).order_by("-version")
