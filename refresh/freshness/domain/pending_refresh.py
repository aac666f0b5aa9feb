"""Pending refreshes of each front end, and the choice of the next one to request.

The queue is no list of orders but this difference: what changed, less what completed refreshes took
in. So nothing can be lost between an event and the last front end, whoever dies on the way, and
doing something twice does no harm.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime

from refresh.changes.domain.changes import Cause, PartitionChange, Pending
from refresh.clusters.domain.frontends import FeState
from refresh.core.domain.names import ExternalTable
from refresh.freshness.domain.coverage import Wish, missing
from refresh.freshness.domain.visibility import FeRecord

TABLE_ITSELF = ""
Changed = tuple[datetime, PartitionChange | None]


@dataclass(frozen=True, slots=True)
class TableChanges:
    """The last known change of a table itself, and of each of its partitions, as the portal saw it.

    `known_since`: from when on every change is known; before that nothing is. `names`: all of its
    partitions, where they are known: only they can show that every one was renewed.
    """

    tracked_since: datetime
    is_partitioned: bool
    table_changed_at: datetime | None = None
    partitions: Mapping[str, tuple[datetime, PartitionChange]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is refreshed next; `only_on` names the front end that must take it, empty = any."""

    pending: Pending
    only_on: str


def pending_for(fe: FeRecord, changes: TableChanges) -> dict[str, Changed]:
    """Return each change that no completed refresh, and no new beginning, took in."""
    known: dict[str, Changed] = {
        name: one
        for name, one in changes.partitions.items()
        if one[1] is not PartitionChange.UNREADY
    }
    if changes.table_changed_at is not None:
        known[TABLE_ITSELF] = (changes.table_changed_at, None)
    return {
        name: (at, touch)
        for name, (at, touch) in known.items()
        if not (fe.empty_after is not None and fe.empty_after > at)
        and missing(_wish(name, at, touch, changes), fe.done, dialect=fe.dialect)
    }


def next_attempt(
    table: ExternalTable,
    changes: TableChanges,
    fes: Sequence[FeRecord],
    *,
    tries: Mapping[str, int],
    causes: frozenset[Cause],
) -> Attempt | None:
    """Choose what to refresh and who takes it; None if no front end that can be asked owes any.

    The taker refreshes itself before it asks the others, so it is one that owes something: the one
    that failed least often, so that a broken one keeps nobody else waiting. While all owe alike
    anyone may take it.
    """
    asked = [fe for fe in fes if fe.state is FeState.ALIVE]
    owed = {fe.name: found for fe in asked if (found := pending_for(fe, changes))}
    if not owed:
        return None
    every: dict[str, Changed] = {}
    for found in owed.values():
        every.update(found)
    moments = [at for at, _ in every.values()]
    pending = Pending(
        table,
        min(moments),
        max(moments),
        causes,
        TABLE_ITSELF in every,
        {name: touch for name, (_, touch) in every.items() if touch is not None},
    )
    counts = {tries.get(name, 0) for name in owed}
    if len(owed) == len(asked) and len(counts) == 1:
        return Attempt(pending, "")
    return Attempt(pending, min(owed, key=lambda name: (tries.get(name, 0), name)))


def as_in_metastore(
    changes: TableChanges,
    existing: AbstractSet[str],
    *,
    unready: AbstractSet[str] = frozenset(),
) -> TableChanges:
    """Correct what was heard by what is there: a name the metastore has not is a dropped one.

    One that is not ready is kept until its flag says that it is, and not refreshed before.

    Call it with what the metastore has of the changed names before an attempt is planned. Without
    it a drop heard before an older write would be owed for ever, because nobody can refresh it by
    name.
    """
    found = {}
    for name, (at, touch) in changes.partitions.items():
        if name not in existing:
            found[name] = (at, PartitionChange.DROPPED)
        elif name in unready:
            found[name] = (at, PartitionChange.UNREADY)
        else:
            is_other = touch in (PartitionChange.DROPPED, PartitionChange.UNREADY)
            found[name] = (at, PartitionChange.UPDATED if is_other else touch)
    return replace(changes, partitions=found)


def settled(changes: TableChanges, fes: Sequence[FeRecord]) -> TableChanges:
    """Forget the changes that nobody owes any more; dead and frozen ones still owe theirs.

    Those that wait for their flag are kept.
    """
    owed = set[str]().union(*(pending_for(fe, changes) for fe in fes))
    return replace(
        changes,
        table_changed_at=changes.table_changed_at if TABLE_ITSELF in owed else None,
        partitions={
            name: one
            for name, one in changes.partitions.items()
            if name in owed or one[1] is PartitionChange.UNREADY
        },
    )


def _wish(name: str, at: datetime, touch: PartitionChange | None, changes: TableChanges) -> Wish:
    # A dropped one cannot be named in a refresh: the list of names must have been renewed.
    is_named = name != TABLE_ITSELF and touch is not PartitionChange.DROPPED
    return Wish(at, changes.is_partitioned, frozenset({name} if is_named else ()))
