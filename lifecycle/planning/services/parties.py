"""Computes who counts as a requester of a plan, and so may not approve it.

Its maker, the owners whose deletion requests it answers, and whoever last changed LEVEL, TTL,
owner or a hold of what is in it, or let recently read data of it go. It is computed when the plan
is created, at every decision and again when it runs: a change in between counts, too.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar
from uuid import UUID

from lifecycle.backup.models import Hold
from lifecycle.core.domain.last_changes import NOBODY, Change, changed_fields, last_changers
from lifecycle.inventory.selectors.policy import happened_at, values_changed, without_echoes
from lifecycle.models import DeletionRequest, DropPlan, DropPlanTable
from portal.audit.models import AuditEvent

POLICY_CHANGED = "policy.changed"
OWNER_CHANGED = "owner.changed"
SAID_YES = "still_read.yes"
_CHUNK = 500

Table = tuple[str, str]
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Basis:
    """What a plan rests on: who made it, its tables, and whose deletion requests it answers."""

    maker: str
    tables: Collection[Table]
    wishers: Collection[str] = ()


def requesters_of(
    lake: str, *, maker: str, tables: Collection[Table], wishes: Collection[DeletionRequest]
) -> list[str]:
    """Return everyone who may not approve a plan over these tables, sorted."""
    wishers = [wish.requested_by for wish in wishes]
    return requesters_of_many(lake, {"": Basis(maker, tables, wishers)})[""]


def requesters_of_many(lake: str, plans: Mapping[K, Basis]) -> dict[K, list[str]]:
    """Return the same for many plans of a lake; what changed is read once for all of them."""
    tables = {table for basis in plans.values() for table in basis.tables}
    policies, holds = defaultdict(list), defaultdict(list)
    for change in _policy_changes(lake, tables):
        policies[change.subject[0]].append(change)
    for change in _hold_changes(lake, tables):
        holds[change.subject[0], change.subject[1]].append(change)
    found = {}
    for key, basis in plans.items():
        names = {f"{db}.{table}" for db, table in basis.tables}
        # A hold without a table is one of the whole database.
        places = {*basis.tables, *((db, "") for db, _ in basis.tables)}
        people = {basis.maker, *basis.wishers}
        people |= last_changers(chain.from_iterable(policies.get(name, ()) for name in names))
        people |= last_changers(chain.from_iterable(holds.get(place, ()) for place in places))
        found[key] = sorted(people - NOBODY) or [basis.maker]
    return found


def requesters_now(plan: DropPlan) -> list[str]:
    """Return the requesters of a plan as of this moment."""
    return requesters_now_of([plan])[plan.pk]


def requesters_now_of(plans: Sequence[DropPlan]) -> dict[UUID, list[str]]:
    """Return the requesters of each of some plans of one lake as of this moment."""
    if not plans:
        return {}
    keys = [plan.pk for plan in plans]
    tables, wishers = defaultdict(list), defaultdict(list)
    rows = DropPlanTable.objects.filter(plan__in=keys)
    for key, db, table in rows.values_list("plan", "db", "table"):
        tables[key].append((db, table))
    wishes = DeletionRequest.objects.filter(plan__in=keys)
    for key, person in wishes.values_list("plan", "requested_by"):
        wishers[key].append(person)
    bases = {one.pk: Basis(one.requested_by, tables[one.pk], wishers[one.pk]) for one in plans}
    return requesters_of_many(plans[0].lake, bases)


def _policy_changes(lake: str, tables: Collection[Table]) -> Iterator[Change]:
    """Yield changes of LEVEL, TTL and owner of the tables, and consents to recently read data."""
    names = sorted({f"{db}.{table}" for db, table in tables})
    for start in range(0, len(names), _CHUNK):
        events = AuditEvent.objects.filter(
            lake=lake,
            object_type="table",
            object_id__in=names[start : start + _CHUNK],
            action__in=(POLICY_CHANGED, OWNER_CHANGED, SAID_YES),
        ).order_by("seq")
        policy: list[AuditEvent] = []
        others: list[AuditEvent] = []
        for event in events:
            (policy if event.action == POLICY_CHANGED else others).append(event)
        for event in without_echoes(policy):
            for name in changed_fields(*values_changed(event)):
                yield _change(event, name)
        for event in others:
            yield _change(event, event.action, str(event.data.get("partition") or ""))


def _change(event: AuditEvent, *what: str) -> Change:
    return Change((event.object_id, *what), event.actor, happened_at(event), event.seq)


def _hold_changes(lake: str, tables: Collection[Table]) -> Iterable[Change]:
    """Yield when each hold that touches the tables was placed and released, and by whom.

    A legal hold, an extension and what a restore placed are changed apart: none hides another.
    """
    databases = {db for db, _ in tables}
    holds = Hold.objects.filter(lake=lake, db__in=databases).order_by("id")
    if len(tables) <= _CHUNK:
        names = {"", *(table for _, table in tables)}
        holds = holds.filter(table__in=names)
    columns = ("db", "table", "partition", "kind", "placed_by", "placed_at", "released_by")
    for row in holds.values_list(*columns, "released_at", "id").iterator(chunk_size=2000):
        db, table, partition, kind, placed_by, placed_at, released_by, released_at, order = row
        if table and (db, table) not in tables:
            continue
        subject = (db, table, partition, kind)
        yield Change(subject, placed_by, placed_at, order)
        if released_at is not None:
            yield Change(subject, released_by, released_at, order)
