"""Who counts as a requester of a plan, and so may not approve it?

Its maker, the owners whose "clean now" it answers, and whoever last changed LEVEL, TTL, owner or a
hold of what is in it, or let still-read data of it go: who made the data fall due must not be the
one who says that it may go.
"""

from collections.abc import Collection

from lifecycle.models import CleanNowRequest
from lifecycle.selectors.policy import without_echoes
from portal.act.models import Hold
from portal.audit.models import AuditEvent

POLICY_ACTIONS = ("policy.changed", "level.changed", "ttl.changed", "owner.changed", "enrol.done")
SAID_YES = "still_read.yes"
_CHUNK = 500
_NOBODY = frozenset({"", "system", "lakewarden"})

Table = tuple[str, str]


def requesters_of(
    lake: str, *, maker: str, tables: Collection[Table], wishes: Collection[CleanNowRequest]
) -> list[str]:
    """Give everyone who may not approve a plan over these tables, sorted."""
    people = {maker}
    people |= {wish.requested_by for wish in wishes}
    people |= _last_policy_changers(lake, tables)
    people |= _last_hold_changers(lake, tables)
    return sorted(people - _NOBODY) or [maker]


def _last_policy_changers(lake: str, tables: Collection[Table]) -> set[str]:
    """Give the author of the newest change of each kind for each table."""
    names = [f"{db}.{table}" for db, table in tables]
    newest: dict[tuple[str, str], str] = {}
    for start in range(0, len(names), _CHUNK):
        events = AuditEvent.objects.filter(
            lake=lake,
            object_type="table",
            object_id__in=names[start : start + _CHUNK],
            action__in=(*POLICY_ACTIONS, SAID_YES),
        ).order_by("seq")
        newest |= {
            (event.object_id, event.action): event.actor for event in without_echoes(list(events))
        }
    return set(newest.values())


def _last_hold_changers(lake: str, tables: Collection[Table]) -> set[str]:
    """Give who last placed or released a hold under each name that touches the tables."""
    databases = {db for db, _ in tables}
    holds = Hold.objects.filter(lake=lake, db__in=databases).order_by("placed_at", "id")
    newest: dict[tuple[str, str, str], str] = {}
    for hold in holds.iterator(chunk_size=2000):
        if not hold.table or (hold.db, hold.table) in tables:
            newest[hold.db, hold.table, hold.partition] = hold.released_by or hold.placed_by
    return set(newest.values())
