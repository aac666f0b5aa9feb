"""The inbox over every kind: what is listed where, in which order, and at which price."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from lifecycle.drop.services.plans import PLANS
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.approvals.inbox import InboxFilter, InboxPage, InboxQuery, Shown, Tab, inbox_page
from portal.approvals.inbox_rows import InboxRow
from tests.component.conftest import LAKE, NOW, People
from tests.component.portal.approvals.proposal_rows import CASES

pytestmark = pytest.mark.usefixtures("lake")
ALL = InboxFilter(tab=Tab.ALL)
MINE = InboxFilter(tab=Tab.MINE)
NEEDS_ME = InboxFilter()


def page(user: User, wanted: InboxFilter, *, now: datetime = NOW, **more: Any) -> InboxPage:
    return inbox_page(InboxQuery(user, LAKE, wanted, now), **{"size": 50, **more})


def walked(user: User, wanted: InboxFilter, size: int) -> Iterator[list[UUID]]:
    """Turn all pages forwards."""
    after = None
    while True:
        found = page(user, wanted, size=size, after=after)
        yield [row.id for row in found.rows]
        if not found.has_next:
            return
        after = found.rows[-1].place


def ask_all(who: str, n: int = 1) -> list[Any]:
    """Make proposals of every kind, an hour apart."""
    return [
        case.ask(who, NOW + timedelta(hours=hour), hour)
        for hour in range(n)
        for case in CASES.values()
    ]


def test_a_row_says_what_is_asked_who_may_answer_and_until_when(people: People) -> None:
    plan = CASES["drop plan"].ask("ada", NOW, 150)
    (row,) = page(people.second, NEEDS_ME).rows
    assert row.title == "Drop 151 items of 0 tables: old"
    assert (row.kind_title, row.state, row.id) == ("Drop plan", "PENDING", plan.pk)
    assert (row.effect.words, row.effect.n_items) == ("151 items moved into a backup", 151)
    assert row.requesters == ["ada"]
    assert row.progress_words == "0 of 2"
    assert row.waits_for_words == "ben or cem"
    assert row.expires_at == NOW + timedelta(hours=72)
    assert row.steps == ["approve", "reject"]
    assert row.url == f"/lifecycle/plans/{plan.pk}/"


def test_who_has_decided_is_counted_and_not_waited_for(people: People) -> None:
    plan = CASES["drop plan"].ask("ada", NOW, 0)
    answer = DecisionInput(decision="APPROVE", reason="", digest=plan.digest)
    PLANS.decide(plan.pk, user=people.second, answer=answer, authenticated_at=NOW, now=NOW)
    (row,) = page(people.second, ALL).rows
    assert (row.progress_words, row.waits_for_words) == ("1 of 2", "cem")
    assert page(people.second, NEEDS_ME).rows == []
    PLANS.decide(plan.pk, user=people.third, answer=answer, authenticated_at=NOW, now=NOW)
    assert page(people.second, ALL).rows == []
    (row,) = page(people.second, replace(ALL, state=Shown.APPROVED)).rows
    assert (row.state, row.progress_words, row.waits_for) == ("APPROVED", "2 of 2", [])


def test_many_who_may_decide_are_named_in_part() -> None:
    named = {
        "": [],
        "ada": ["ada"],
        "ada or ben": ["ada", "ben"],
        "ada, ben or cem": ["ada", "ben", "cem"],
        "ada, ben, cem and 1 other": ["ada", "ben", "cem", "dan"],
        "ada, ben, cem and 4 others": ["ada", "ben", "cem", "dan", "eva", "fay", "gus"],
    }
    row = object.__new__(InboxRow)
    for words, names in named.items():
        object.__setattr__(row, "waits_for", names)
        assert row.waits_for_words == words


def test_every_kind_has_a_title_and_says_what_it_changes(people: People) -> None:
    ask_all("ada")
    rows = page(people.second, NEEDS_ME).rows
    assert len(rows) == len(CASES)
    for row in rows:
        assert str(row.id)[:8] not in row.title
        assert row.title.endswith(row.reason)
        assert row.effect.words
        assert row.waits_for_words == "ben or cem"


@pytest.mark.parametrize("state", [Shown.WAITING, Shown.ANY])
def test_pages_follow_each_other_and_back(people: People, state: Shown) -> None:
    made = ask_all("ada", 3)
    for wanted in (NEEDS_ME, replace(ALL, state=state)):
        whole = [row.id for row in page(people.second, wanted).rows]
        assert sorted(whole) == sorted(one.pk for one in made)
        parts = list(walked(people.second, wanted, 4))
        assert [one for part in parts for one in part] == whole
        last = page(people.second, wanted, size=4, after=page(people.second, wanted).rows[11].place)
        back = page(people.second, wanted, size=4, before=last.rows[0].place)
        assert [row.id for row in back.rows] == whole[8:12]
        assert back.has_next
        assert back.has_previous
        first = page(
            people.second, wanted, size=4, before=page(people.second, wanted).rows[2].place
        )
        assert ([row.id for row in first.rows], first.has_previous) == (whole[:2], False)


def test_what_waits_is_listed_oldest_first_and_a_history_newest_first(people: People) -> None:
    ask_all("ada", 2)
    waits = [row.waiting_since for row in page(people.second, ALL).rows]
    assert waits == sorted(waits)
    history = [row.waiting_since for row in page(people.second, replace(ALL, state=Shown.ANY)).rows]
    assert history == sorted(waits, reverse=True)


def test_filters_are_by_kind_requester_and_name(people: People) -> None:
    ask_all("ada")
    ask_all("ben")

    def n(**wanted: Any) -> int:
        return len(page(people.third, replace(ALL, **wanted)).rows)

    assert n() == 2 * len(CASES)
    assert n(kind=PLANS.name) == 2
    assert n(kind="nothing") == 0
    assert n(requester="ben") == len(CASES)
    assert n(requester="be") == 0
    assert n(about="sales.ord") == 2 * (len(CASES) - 1)  # the removals are of another table
    assert n(about="sal") >= 2 * (len(CASES) - 1)
    assert n(about="lab") == 0
    assert n(about="%") == 0
    assert len(page(people.third, replace(NEEDS_ME, requester="ada")).rows) == len(CASES)


def test_mine_are_those_that_i_asked_for(people: People) -> None:
    mine = ask_all("ada")
    ask_all("ben")
    assert sorted(row.id for row in page(people.admin, MINE).rows) == sorted(one.pk for one in mine)
    assert page(people.owner, MINE).rows == []


def test_a_person_sees_nothing_of_what_is_not_theirs_to_see(people: People) -> None:
    ask_all("ada")
    for tab in Tab:
        assert page(people.stranger, replace(ALL, tab=tab, state=Shown.ANY)).rows == []


def test_a_page_costs_the_same_for_one_and_for_sixty(people: People) -> None:
    def cost(wanted: InboxFilter) -> int:
        with CaptureQueriesContext(connection) as queries:
            page(people.second, wanted)
        return len(queries)

    ask_all("ada")
    every = [replace(ALL, state=state) for state in Shown] + [NEEDS_ME, MINE]
    few = [cost(wanted) for wanted in every]
    for case in CASES.values():
        for n in range(1, 10):
            case.ask("ada", NOW, n)
    many = [cost(wanted) for wanted in every]
    assert all(after <= before for before, after in zip(few, many, strict=True))
    assert max(few) <= 45
