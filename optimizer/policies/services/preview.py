"""Previews what setting a scope would change. It is computed before it is set and not kept.

Every setting is compared, because one may give others their defaults; of a scope that fits very
many tables only the first ones are looked at: it is asked while a person waits.
"""

from collections import Counter
from dataclasses import dataclass

from optimizer.policies.domain.formats import POLICY_SCHEMAS
from optimizer.policies.domain.policy import Level, LevelKind
from optimizer.policies.selectors.policies import levels_of
from optimizer.policies.selectors.scopes import TableNames
from optimizer.policies.services.policies import PolicyChange, policy_meant
from portal.access.models import User

LOOKED_AT_MOST = 2_000


@dataclass(frozen=True, slots=True)
class Move:
    """One setting that would change, in its JSON form, and in how many tables."""

    setting: str
    title: str
    was: object
    would_be: object
    n_tables: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What would change.

    `n_looked` tables of `n_tables` were looked at. `bad` is the first table whose settings would
    contradict each other, with the reason.
    """

    n_tables: int
    n_looked: int
    n_changed: int
    changes: tuple[Move, ...]
    bad: str

    @property
    def is_whole(self) -> bool:
        """Whether every table was looked at."""
        return self.n_looked == self.n_tables


def policy_preview(change: PolicyChange, *, user: User, names: TableNames) -> Preview:
    """Say which settings of how many tables a change would move.

    Raises:
        As `policy_meant`: what could not be kept is not previewed either.
    """
    after, manners = policy_meant(change, user=user), POLICY_SCHEMAS[change.table_format]
    levels = {one.scope: one for one in levels_of(change.lake, change.table_format)[0]}
    before = levels.pop(after.scope, Level(after.scope, {}))
    rest = [one for one in levels.values() if one.values]
    wild = [one for one in rest if one.kind is not LevelKind.TABLE]
    under = list(names.under(after.scope))
    found: Counter[tuple[str, str]] = Counter()
    shown: dict[tuple[str, str], tuple[str, str, object, object]] = {}
    n_changed, bad = 0, ""
    for db, table, _ in under[:LOOKED_AT_MOST]:
        own = levels.get(f"{db}.{table}".lower())
        others = [*wild, own] if own is not None else wild
        is_now = manners.resolve([*others, before], db=db, table=table).policy
        would_be = manners.resolve([*others, after], db=db, table=table).policy
        was, will = manners.write(is_now), manners.write(would_be)
        differ = [name for name in manners.fields if was[name] != will[name]]
        n_changed += bool(differ)
        for name in differ:
            key = (name, f"{was[name]!r} {will[name]!r}")
            found[key] += 1
            shown[key] = (name, manners.settings[name][0], was[name], will[name])
        refused = manners.contradiction(would_be)
        if refused is not None and manners.contradiction(is_now) is None and not bad:
            bad = f"{db}.{table}: {refused.message}"
    changes = tuple(Move(*shown[key], n) for key, n in sorted(found.items()))
    return Preview(len(under), min(len(under), LOOKED_AT_MOST), n_changed, changes, bad)
