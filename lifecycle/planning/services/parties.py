"""Computes who counts as a requester of a plan, and so may not approve it.

Its maker, the owners whose deletion requests it answers, and whoever last changed LEVEL, TTL,
owner or a hold of what is in it, or let recently read data of it go. It is computed when the plan
is created, at every decision and again when it runs: a change in between counts, too.
"""

from collections.abc import Collection, Iterable, Iterator

from lifecycle.backup.models import Hold
from lifecycle.core.domain.last_changes import NOBODY, Change, changed_fields, last_changers
from lifecycle.inventory.selectors.policy import happened_at, values_changed, without_echoes
from lifecycle.models import DeletionRequest, DropPlan
from portal.audit.models import AuditEvent

POLICY_CHANGED = "policy.changed"
OWNER_CHANGED = "owner.changed"
SAID_YES = "still_read.yes"
_CHUNK = 500

Table = tuple[str, str]


def requesters_of(
    lake: str, *, maker: str, tables: Collection[Table], wishes: Collection[DeletionRequest]
) -> list[str]:
    """Return everyone who may not approve a plan over these tables, sorted."""
    people = {maker}
    people |= {wish.requested_by for wish in wishes}
    people |= last_changers(_policy_changes(lake, tables))
    people |= last_changers(_hold_changes(lake, set(tables)))
    return sorted(people - NOBODY) or [maker]


def requesters_now(plan: DropPlan) -> list[str]:
    """Return the requesters of a plan as of this moment."""
    return requesters_of(
        plan.lake,
        maker=plan.requested_by,
        tables=list(plan.tables.values_list("db", "table")),
        wishes=list(DeletionRequest.objects.filter(plan=plan)),
    )


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
