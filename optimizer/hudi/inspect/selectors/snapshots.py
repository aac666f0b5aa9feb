"""Reads the last inspection of a Hudi table, and the policy by which it is judged.

A look at a table of 100,000 file groups takes a second to unpack, so the last few unpacked ones are
kept: turning a page or a filter asks for the same look again.
"""

from dataclasses import dataclass
from functools import lru_cache

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.models import HudiTable, StoredInspection
from optimizer.policies.domain.hudi_policy import ResolvedHudi
from optimizer.policies.selectors.hudi_policies import hudi_policies_of
from portal.lake.errors import RuleViolation

_LOOKS_KEPT = 4


@dataclass(frozen=True, slots=True)
class Seen:
    """A table's last look, None where there is none that can be read; then `problem` says why."""

    look: HudiInspection | None
    problem: str = ""


def last_inspection(table: HudiTable) -> Seen:
    """Return what the last look at a table found."""
    rows = StoredInspection.objects.filter(table=table)
    packed = rows.values_list("packed", flat=True).first()
    if packed is None:
        return Seen(None)
    try:
        return Seen(_unpacked(bytes(packed)))
    except RuleViolation as error:
        return Seen(None, error.message)


def hudi_policy_of(table: HudiTable) -> ResolvedHudi:
    """Return the policy that holds for a table now."""
    return hudi_policies_of(table.lake).of(table.db, table.table)


@lru_cache(maxsize=_LOOKS_KEPT)
def _unpacked(packed: bytes) -> HudiInspection:
    return StoredInspection.unpack(packed)
