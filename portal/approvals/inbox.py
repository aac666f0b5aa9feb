"""One list over every kind of proposal: what waits for a person, what is theirs, and all.

Kinds appear by registering. Each is read by one query a page and the pages are merged by time, so
a page costs the same however many proposals there are.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from django.db.models import F, Q, QuerySet, TextField
from django.db.models.functions import Cast, Coalesce

from portal.access.models import User
from portal.approvals.inbox_rows import InboxRow, Place, inbox_rows, place_of
from portal.approvals.models import Proposal
from portal.approvals.proposals import proposal_kinds
from portal.approvals.rows import with_decisions
from portal.approvals.waiting import Found, Kind, needs_decision_of

_START = datetime(1970, 1, 1, tzinfo=UTC)


class Tab(StrEnum):
    """Whose proposals are listed."""

    NEEDS_ME = "needs-me"
    MINE = "mine"
    ALL = "all"


class Shown(StrEnum):
    """Which states are listed."""

    WAITING = "waiting"
    APPROVED = "approved"
    CLOSED = "closed"
    ANY = "any"


_IS_APPROVED = Q(state="APPROVED") | Q(state="PENDING", approval__state="APPROVED")
_OF: dict[Shown, Q] = {
    Shown.WAITING: Q(state="PENDING") & (Q(approval=None) | Q(approval__state="PENDING")),
    Shown.APPROVED: _IS_APPROVED,
    Shown.CLOSED: ~Q(state__in=("PENDING", "APPROVED", "DRAFTING")),
    Shown.ANY: Q(),
}


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """What a page of the inbox is asked for."""

    tab: Tab = Tab.NEEDS_ME
    kind: str = ""
    state: Shown = Shown.WAITING
    requester: str = ""
    about: str = ""
    """The beginning of a database's or table's name, `db` or `db.table`."""

    @property
    def is_newest_first(self) -> bool:
        """What waits or may still be stopped comes by the longest wait, a history by the newest."""
        return self.tab is not Tab.NEEDS_ME and self.state in (Shown.CLOSED, Shown.ANY)


@dataclass
class InboxPage:
    """One page: its rows, whether there are more, and the kinds that could not be read."""

    rows: list[InboxRow]
    has_next: bool = False
    has_previous: bool = False
    broken: list[Kind] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class InboxQuery:
    """Who looks at which list, and when."""

    user: User
    lake: str
    wanted: InboxFilter
    now: datetime


def inbox_page(
    query: InboxQuery, *, size: int, after: Place | None = None, before: Place | None = None
) -> InboxPage:
    """Return a page of the list, after one place or before another."""
    backwards = after is None and before is not None
    place = before if backwards else after
    found = proposals_beyond(query, place, backwards=backwards, size=size + 1)
    more, pairs = len(found.rows) > size, found.rows[:size]
    if backwards:
        pairs.reverse()
    newest = query.wanted.is_newest_first
    return InboxPage(
        rows=inbox_rows(pairs, query.user, newest=newest, now=query.now),
        has_next=bool(pairs) and (backwards or more),
        has_previous=bool(pairs) and (more if backwards else after is not None),
        broken=found.broken,
    )


def proposals_beyond(
    query: InboxQuery, place: Place | None, *, backwards: bool, size: int
) -> Found:
    """Return the next proposals from a place on, nearest first, with what could not be read."""
    order = _Order(query.wanted.is_newest_first, backwards)
    if query.wanted.tab is Tab.NEEDS_ME:
        found = _needing(query)
        if backwards:
            found.rows.reverse()
        found.rows = [pair for pair in found.rows if order.is_beyond(place_of(pair), place)]
    else:
        found = Found()
        for kind in proposal_kinds():
            if query.wanted.kind in ("", kind.name):
                found.read(kind, _asking(query, order, place, size))
        found.rows.sort(key=lambda pair: order.key(place_of(pair, newest=order.newest)))
    found.rows = found.rows[:size]
    return found


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The proposal before or after another one in a list."""

    title: str
    url: str


def neighbours(
    query: InboxQuery, kind: Kind, proposal: Proposal
) -> tuple[Neighbour | None, Neighbour | None]:
    """Return what comes before and after a proposal in a list, whether or not it is still there."""
    order = _Order(query.wanted.is_newest_first, backwards=False)
    place = place_of((kind, proposal), newest=order.newest)
    if query.wanted.tab is Tab.NEEDS_ME:
        others = [pair for pair in _needing(query).rows if pair[1].pk != proposal.pk]
        after = [pair for pair in others if order.is_beyond(place_of(pair), place)]
        before = [pair for pair in others if not order.is_beyond(place_of(pair), place)]
        return _neighbour(before[-1:]), _neighbour(after)
    before, after = (
        proposals_beyond(query, place, backwards=backwards, size=1).rows
        for backwards in (True, False)
    )
    return _neighbour(before), _neighbour(after)


def first_of(query: InboxQuery) -> Neighbour | None:
    """Return the first proposal of a list."""
    return _neighbour(proposals_beyond(query, None, backwards=False, size=1).rows)


def _neighbour(pairs: Sequence[tuple[Kind, Proposal]]) -> Neighbour | None:
    return next((Neighbour(one.title, kind.url_of(one)) for kind, one in pairs), None)


def _needing(query: InboxQuery) -> Found:
    def narrowed(kind: Kind, rows: QuerySet[Any]) -> QuerySet[Any]:
        return _narrowed(query, kind, rows)

    found = needs_decision_of(query.user, query.lake, now=query.now, narrowed=narrowed)
    found.rows = [pair for pair in found.rows if query.wanted.kind in ("", pair[0].name)]
    return found


@dataclass(frozen=True, slots=True)
class _Order:
    """The order of the list, and the way in which it is read."""

    newest: bool
    backwards: bool

    @property
    def is_rising(self) -> bool:
        """Whether times grow in the direction of reading."""
        return self.newest is self.backwards

    def key(self, place: Place) -> tuple[Any, ...]:
        """Return what sorts places of several kinds; inside a kind its query has sorted."""
        age = place.at - _START
        names = [kind.name for kind in proposal_kinds()]
        index = names.index(place.kind)
        return (age if self.is_rising else -age, -index if self.backwards else index)

    def is_beyond(self, one: Place, place: Place | None) -> bool:
        """Whether a row that is read whole lies beyond a place."""
        if place is None:
            return True
        here, there = ((row.at, row.kind, row.id.int) for row in (one, place))
        return here < there if self.backwards else here > there

    def cut(self, rows: QuerySet[Any], kind: Kind, place: Place | None) -> QuerySet[Any]:
        """Order a kind's rows and keep those beyond a place."""
        at = F("created_at") if self.newest else Coalesce("approval__created_at", "created_at")
        rows = rows.annotate(placed_at=at)
        more = "gt" if self.is_rising else "lt"
        if place is not None:
            beyond = Q(**{f"placed_at__{more}": place.at})
            if kind.name == place.kind:
                beyond |= Q(placed_at=place.at, **{f"pk__{more}": place.id})
            elif (kind.name < place.kind) is self.backwards:
                beyond |= Q(placed_at=place.at)
            rows = rows.filter(beyond)
        return rows.order_by(*(("placed_at", "pk") if self.is_rising else ("-placed_at", "-pk")))


def _asking(
    query: InboxQuery, order: _Order, place: Place | None, size: int
) -> Callable[[Kind], list[Any]]:
    def ask(kind: Kind) -> list[Any]:
        rows = kind.visible(query.lake, query.user).filter(_OF[query.wanted.state])
        rows = _narrowed(query, kind, rows)
        return list(order.cut(with_decisions(rows), kind, place)[:size])

    return ask


def _narrowed(query: InboxQuery, kind: Kind, rows: QuerySet[Any]) -> QuerySet[Any]:
    wanted = query.wanted
    if wanted.tab is Tab.MINE:
        rows = _requested_by(kind, rows, query.user.username)
    if wanted.requester:
        rows = _requested_by(kind, rows, wanted.requester)
    return kind.about(rows, wanted.about, query.user) if wanted.about else rows


def _requested_by(kind: Kind, rows: QuerySet[Any], name: str) -> QuerySet[Any]:
    """Keep what somebody asked for, alone or with others."""
    # As text, for SQLite cannot look into a list.
    rows = rows.annotate(asked=Cast("approval__requesters", TextField()))
    among = Q(asked__contains=json.dumps(name))
    fields = {one.name for one in kind.model._meta.get_fields()}
    return rows.filter(among | Q(requested_by=name) if "requested_by" in fields else among)
