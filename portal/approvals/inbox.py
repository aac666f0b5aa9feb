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
from uuid import UUID

from django.db.models import F, Q, QuerySet, TextField
from django.db.models.functions import Cast, Coalesce

from portal.access.models import User
from portal.access.selectors import people_with_roles
from portal.approvals.domain import OPEN, ApprovalState, Given, Request, Verdict, standing_approvers
from portal.approvals.models import Approval, Effect, Proposal
from portal.approvals.proposals import proposal_kinds
from portal.approvals.rows import with_decisions
from portal.approvals.selectors import Steps, approval_requesters, requesters_shown
from portal.approvals.waiting import Found, Kind, needs_decision_of

_START = datetime(1970, 1, 1, tzinfo=UTC)
NAMES_SHOWN = 3


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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands in the list: its time, its kind and its id."""

    at: datetime
    kind: str
    id: UUID


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One proposal as the inbox shows it."""

    id: UUID
    kind: str
    kind_title: str
    title: str
    effect: Effect
    state: str
    reason: str
    requesters: list[str]
    n_given: int
    n_needed: int
    waits_for: list[str]
    """Everybody who may still approve it, by the rule that decides."""
    waiting_since: datetime
    expires_at: datetime | None
    steps: list[str]
    url: str
    place: Place

    @property
    def waits_for_words(self) -> str:
        """Who may still approve it: three names at most, and how many more."""
        names = self.waits_for
        if len(names) <= NAMES_SHOWN:
            return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
        n_more = len(names) - NAMES_SHOWN
        return f"{', '.join(names[:NAMES_SHOWN])} and {n_more} other{'s' if n_more > 1 else ''}"

    @property
    def progress_words(self) -> str:
        """How many have approved of how many who must."""
        return f"{self.n_given} of {self.n_needed}"


@dataclass
class InboxPage:
    """One page: its rows, whether there are more, and the kinds that could not be read."""

    rows: list[InboxRow]
    has_next: bool = False
    has_previous: bool = False
    broken: list[Kind] = field(default_factory=list)


def inbox_page(  # noqa: PLR0913 - a page is asked for by whom, where, by what and from which place
    user: User,
    lake: str,
    wanted: InboxFilter,
    *,
    now: datetime,
    size: int,
    after: Place | None = None,
    before: Place | None = None,
) -> InboxPage:
    """Return a page of the list, after one place or before another."""
    backwards = after is None and before is not None
    found = proposals_beyond(
        user, lake, wanted, now=now, place=before if backwards else after,
        backwards=backwards, size=size + 1,
    )  # fmt: skip
    more, pairs = len(found.rows) > size, found.rows[:size]
    if backwards:
        pairs.reverse()
    return InboxPage(
        rows=inbox_rows(pairs, user, newest=wanted.is_newest_first, now=now),
        has_next=bool(pairs) and (backwards or more),
        has_previous=bool(pairs) and (more if backwards else after is not None),
        broken=found.broken,
    )


def proposals_beyond(  # noqa: PLR0913 - see inbox_page
    user: User,
    lake: str,
    wanted: InboxFilter,
    *,
    now: datetime,
    place: Place | None,
    backwards: bool,
    size: int,
) -> Found:
    """Return the next proposals from a place on, nearest first, with what could not be read."""
    order = _Order(wanted.is_newest_first, backwards)
    if wanted.tab is Tab.NEEDS_ME:
        found = needs_decision_of(
            user, lake, now=now, narrowed=lambda kind, rows: _narrowed(kind, rows, wanted, user)
        )
        found.rows = [pair for pair in found.rows if wanted.kind in ("", pair[0].name)]
        if backwards:
            found.rows.reverse()
        found.rows = [pair for pair in found.rows if order.is_beyond(_place(pair), place)]
    else:
        found = Found()
        for kind in proposal_kinds():
            if wanted.kind in ("", kind.name):
                found.read(kind, _asking(user, lake, wanted, order, place, size))
        found.rows.sort(key=lambda pair: order.key(_place(pair, newest=order.newest)))
    found.rows = found.rows[:size]
    return found


def inbox_rows(
    pairs: Sequence[tuple[Kind, Proposal]], user: User, *, newest: bool = False, now: datetime
) -> list[InboxRow]:
    """Return proposals as the inbox shows them: a fixed number of queries for any number."""
    by_kind: dict[str, list[Any]] = {}
    kinds = {kind.name: kind for kind, _ in pairs}
    for kind, one in pairs:
        by_kind.setdefault(kind.name, []).append(one)
    for name, rows in by_kind.items():
        kinds[name].read_requesters([one for one in rows if _is_open(one.approval)])
    roles = frozenset().union(*(kind.roles for kind in kinds.values()))
    named = {name for kind, one in pairs for name in kind.named_deciders(one)}
    people = people_with_roles(roles, also=named) if pairs else []
    return [_row(kind, one, user, people, newest=newest, now=now) for kind, one in pairs]


def place_in(wanted: InboxFilter, kind: Kind, proposal: Proposal) -> Place:
    """Return where a proposal stands, or would stand, in a list."""
    return _place((kind, proposal), newest=wanted.is_newest_first)


def _row(
    kind: Kind,
    one: Proposal,
    user: User,
    people: Sequence[User],
    *,
    newest: bool,
    now: datetime,
) -> InboxRow:
    approval = one.approval
    state: str = one.state
    if approval is not None and state == "PENDING" and approval.state == "APPROVED":
        state = "APPROVED"  # of a kind whose approval waits until it begins
    waits = [
        person.username
        for person in people
        if state == "PENDING" and kind.steps(one, person, now=now).approve
    ]
    stored = getattr(one, "requesters", None) or [getattr(one, "requested_by", "")]
    steps = kind.steps(one, user, now=now) if state in ("PENDING", "APPROVED") else Steps()
    return InboxRow(
        id=one.pk,
        kind=kind.name,
        kind_title=kind.title,
        title=one.title,
        effect=one.effect,
        state=state,
        reason=one.reason,
        requesters=requesters_shown(approval, stored),
        n_given=_n_given(kind, one, people),
        n_needed=1 if approval is None else approval.n_needed,
        waits_for=waits,
        waiting_since=_place((kind, one)).at,
        expires_at=None if approval is None or state != "PENDING" else approval.expires_at,
        steps=steps.names,
        url=kind.url_of(one),
        place=_place((kind, one), newest=newest),
    )


def _n_given(kind: Kind, one: Proposal, people: Sequence[User]) -> int:
    """Count the approvals that stand, by the rule that counts them when it runs."""
    approval = one.approval
    if approval is None:
        return 0
    roles = {person.pk: person.roles for person in people}
    given = [
        Given(
            said.user.username,
            Verdict(said.verdict),
            said.digest,
            roles.get(said.user_id, frozenset()),
            said.user.is_active,
        )
        for said in approval.decisions.all()
    ]
    request = Request.of(
        state=approval.state,
        digest=approval.digest,
        requesters=approval_requesters(approval) if _is_open(approval) else approval.requesters,
        n_needed=approval.n_needed,
        expires_at=approval.expires_at,
        cool_until=approval.cool_until,
    )
    return len(standing_approvers(request, given, roles=kind.roles))


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
    user: User,
    lake: str,
    wanted: InboxFilter,
    order: _Order,
    place: Place | None,
    size: int,
) -> Callable[[Kind], list[Any]]:
    def ask(kind: Kind) -> list[Any]:
        rows = kind.visible(lake, user).filter(_OF[wanted.state])
        rows = _narrowed(kind, rows, wanted, user)
        return list(order.cut(with_decisions(rows), kind, place)[:size])

    return ask


def _narrowed(kind: Kind, rows: QuerySet[Any], wanted: InboxFilter, user: User) -> QuerySet[Any]:
    if wanted.tab is Tab.MINE:
        rows = _requested_by(kind, rows, user.username)
    if wanted.requester:
        rows = _requested_by(kind, rows, wanted.requester)
    return kind.about(rows, wanted.about, user) if wanted.about else rows


def _requested_by(kind: Kind, rows: QuerySet[Any], name: str) -> QuerySet[Any]:
    """Keep what somebody asked for, alone or with others."""
    # As text, for SQLite cannot look into a list.
    rows = rows.annotate(asked=Cast("approval__requesters", TextField()))
    among = Q(asked__contains=json.dumps(name))
    fields = {one.name for one in kind.model._meta.get_fields()}
    return rows.filter(among | Q(requested_by=name) if "requested_by" in fields else among)


def _is_open(approval: Approval | None) -> bool:
    return approval is not None and ApprovalState(approval.state) in OPEN


def _place(pair: tuple[Kind, Proposal], *, newest: bool = False) -> Place:
    kind, one = pair
    is_asked = one.approval is not None and not newest
    at = one.approval.created_at if is_asked and one.approval is not None else one.created_at
    return Place(at, kind.name, one.pk)
