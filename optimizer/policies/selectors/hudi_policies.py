"""Resolves the policy of a Hudi table, and the scope that sets each field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from optimizer.models import PolicyVersion
from optimizer.policies.domain.formats import TableFormat
from optimizer.policies.domain.hudi_policy import ResolvedHudi, resolve
from optimizer.policies.domain.policy import Level
from optimizer.policies.selectors.policies import levels_of, versions_in


@dataclass(frozen=True, slots=True)
class HudiPolicies:
    """All Hudi policies of a lake, read once: resolving a table asks the database nothing more."""

    levels: Sequence[Level]
    ids: Mapping[str, int]

    def of(self, db: str, table: str) -> ResolvedHudi:
        """Resolve one table's policy; it may contradict itself where two levels meet."""
        return resolve(self.levels, db=db, table=table)

    def versions(self, found: ResolvedHudi) -> tuple[int, ...]:
        """Return the rows of `PolicyVersion` that say any of a policy."""
        return versions_in(found, self.ids)


def hudi_policies_changed_at(lake: str) -> datetime | None:
    """Say when a policy of Hudi tables of a lake changed last; None where there is none."""
    of_hudi = PolicyVersion.objects.filter(lake=lake, format=TableFormat.HUDI)
    changed_at: datetime | None = of_hudi.aggregate(at=Max("at"))["at"]
    return changed_at


def hudi_policies_of(lake: str) -> HudiPolicies:
    """Read the current policies of a lake's Hudi tables, in one query."""
    return HudiPolicies(*levels_of(lake, TableFormat.HUDI))
