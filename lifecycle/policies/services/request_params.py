"""Opens requests for another LEVEL, TTL or owner of a table or database.

A request keeps what stood on the page; what stands now is compared here, and again by the run that
writes it. Keeping data some days more is `policy_extensions`.
"""

from dataclasses import dataclass
from datetime import datetime

from lifecycle.core.services.people import People
from lifecycle.expiry.selectors import ages_of, table_what_if
from lifecycle.inventory.selectors.findings import get_database_for_user, get_table_for_user
from lifecycle.inventory.selectors.policy import (
    PolicyNow,
    asker_of,
    database_policy,
    is_written_to,
    table_policy,
)
from lifecycle.models import PolicyRequest
from lifecycle.policies.domain.policy import Asker, Route, Values, route_of_database, route_of_table
from lifecycle.policies.domain.states import RequestKind
from lifecycle.policies.services.requests import request_open
from portal.access.models import User
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.names import check_identifier
from portal.lake.reasons import check_reason


@dataclass(frozen=True, slots=True)
class SetParams:
    """Other values for a table, or (`table` empty) for the new tables of a database."""

    db: str
    table: str
    seen: Values
    wanted: Values
    reason: str


@dataclass(frozen=True, slots=True)
class HandoverParams:
    """A table that shall belong to somebody else."""

    db: str
    table: str
    seen_owner: str
    owner: str
    reason: str


def policy_set_request(lake: str, wish: SetParams, *, user: User, now: datetime) -> PolicyRequest:
    """Ask for other values.

    An admin's request is carried out at once, an owner's waits for an admin.

    Asked again while it is open it gives the same request.

    Raises:
        NotVisible: nothing of that name for this person.
        NotAllowed: neither an owner nor an admin.
        RuleViolation: no reason, values that mean nothing, or a table outside lifecycle.
        StaleState: what stood on the page does not stand any more, or another request is open.
    """
    request = _new(lake, RequestKind.SET, wish, user=user, now=now)
    request.level, request.ttl = wish.wanted.level, wish.wanted.ttl
    if wish.table:
        found = get_table_for_user(lake, wish.db, wish.table, user=user)
        standing = table_policy(found)
        route = route_of_table(wish.seen, wish.wanted, asker_of(user, found))
        request.tbl_id = found.tbl_id
        what = table_what_if(found, ages_of(found), before=wish.seen, after=wish.wanted)
        request.what_if = what.as_json()
    else:
        get_database_for_user(lake, wish.db, user=user)
        standing = database_policy(lake, wish.db)
        if not standing.is_known:
            raise StaleState("policy.unread", "Read the current values of the database first.")
        asker = Asker(user.is_lake_admin_of(lake), owns=False)
        route = route_of_database(wish.seen, wish.wanted, asker)
    _check_seen(standing, wish.seen, request.name)
    check_written_to(lake, wish.db)
    request.seen_level, request.seen_ttl = wish.seen.level, wish.seen.ttl
    request.needs_admin = route is Route.ONE_ADMIN
    return request_open(
        request, at_once=route is Route.NOW, ask_admin=route is Route.ONE_ADMIN, now=now
    )


def hand_over_request(
    lake: str, wish: HandoverParams, *, user: User, now: datetime, people: People | None = None
) -> PolicyRequest:
    """Offer a table to another owner, who (or an admin in their place) must accept it.

    `people` are those of the lake where the caller has read them already.

    Raises:
        NotVisible: no such table for this person.
        NotAllowed: neither an owner of it nor an admin.
        RuleViolation: no reason, or a new owner whom nobody knows.
        StaleState: it belongs to somebody else by now, or another offer is open.
    """
    request = _new(lake, RequestKind.HAND_OVER, wish, user=user, now=now)
    found = get_table_for_user(lake, wish.db, wish.table, user=user)
    asker = asker_of(user, found)
    if not (asker.is_admin or asker.owns):
        raise NotAllowed("policy.role", "Only an owner of the table or an admin hands it over.")
    owner = wish.owner.strip()
    standing = table_policy(found)
    if wish.seen_owner != standing.owner:
        raise StaleState(
            "policy.stale",
            f"{found} belongs to {standing.owner or 'nobody'} by now. Reload its page.",
        )
    if owner == standing.owner:
        raise RuleViolation("policy.same", f"{found} belongs to {owner} already.")
    if owner not in (people or People.of(lake)).addresses:
        raise RuleViolation(
            "policy.owner",
            f"Nobody called {owner!r} with a mail address is known here; check the spelling.",
            owner=owner,
        )
    check_written_to(lake, wish.db)
    request.owner, request.seen_owner, request.tbl_id = owner, standing.owner, found.tbl_id
    return request_open(request, now=now)


def check_written_to(lake: str, db: str) -> None:
    """Refuse to write to a database that is observed: RuleViolation `policy.observed`."""
    if not is_written_to(lake, db):
        raise RuleViolation(
            "policy.observed",
            f"{db} is in Monitor only: the portal writes nothing to it, so this stays a what-if. "
            "An admin sets the database to Notify on its page.",
            db=db,
        )


def _new(
    lake: str, kind: RequestKind, wish: SetParams | HandoverParams, *, user: User, now: datetime
) -> PolicyRequest:
    check_reason(wish.reason, "policy.reason", "Enter a reason; it is kept in the history.")
    check_identifier(wish.db, kind="database")
    if wish.table:
        check_identifier(wish.table, kind="table")
    return PolicyRequest(
        lake=lake,
        kind=kind,
        db=wish.db,
        table=wish.table,
        reason=wish.reason.strip(),
        requested_by=user.username,
        created_at=now,
    )


def _check_seen(standing: PolicyNow, seen: Values, name: str) -> None:
    if standing.values != seen:
        raise StaleState(
            "policy.stale",
            f"{name} is {standing.values} by now; your page said {seen}. Reload the page.",
        )
