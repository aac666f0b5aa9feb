"""Expiring data opens on what is due or soon, and answers for the ticked tables from there."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from lifecycle.backup.models import Hold
from lifecycle.models import TableFinding
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.answers.owned_lake import FRESH, SOON, scan_tables, table

pytestmark = pytest.mark.django_db
LIST, FORM = "/lifecycle/expiring/", "/lifecycle/answers/"


def client(user: User) -> Client:
    found = Client()
    found.force_login(user)
    return found


def shown(answer: Any) -> list[str]:
    return [row.table for row in answer.context["page"].rows]


def scanned(lake: LakeConfig) -> None:
    scan_tables(
        lake, table(1), table(2, SOON), table(3, FRESH), table(4, owner="paul"),
        now=timezone.now() - timedelta(minutes=5),
    )  # fmt: skip


def test_the_list_opens_on_what_is_due_or_soon_and_shows_all_when_asked(
    people: People, lake: LakeConfig
) -> None:
    scanned(lake)
    olga = client(people.owner)
    assert sorted(shown(olga.get(LIST))) == ["t1", "t2"]
    assert sorted(shown(olga.get(f"{LIST}?show="))) == ["t1", "t2", "t3"]
    assert shown(olga.get(f"{LIST}?table=t3")) == ["t3"], "an old link keeps its meaning"
    text = olga.get(LIST).content.decode()
    assert '<span class="lw-none" title="0">—</span>' in text
    assert text.index('id="answers"') < text.index('name="rows"')


def test_a_lake_where_nothing_is_due_offers_all_tables(people: People, lake: LakeConfig) -> None:
    scan_tables(lake, table(3, FRESH), now=timezone.now())
    text = client(people.owner).get(LIST).content.decode()
    assert "Nothing that you may see is due or due soon" in text
    assert "/lifecycle/expiring/?show=" in text
    assert 'id="answers"' not in text


def test_who_may_not_answer_gets_no_boxes(people: People, lake: LakeConfig) -> None:
    scanned(lake)
    text = client(people.operator).get(LIST).content.decode()
    assert 'id="answers"' not in text
    assert 'name="rows"' not in text
    assert client(people.admin).get(LIST).content.decode().count('name="rows"') == 3


def test_eight_tables_are_kept_in_three_clicks_from_home(people: People, lake: LakeConfig) -> None:
    scan_tables(lake, *(table(n) for n in range(8)), now=timezone.now() - timedelta(minutes=5))
    olga = client(people.owner)
    card = next(one for one in olga.get("/").context["waiting"] if "needs an answer" in one.title)
    page = olga.get(card.url)  # 1: the card
    text = page.content.decode()
    assert "All 8 that wait for an answer" in text  # 2: the box
    assert 'value="KEEP-30"' in text
    bar = {name: hidden(text, name) for name in ("seen_at", "next", "filter")}
    said = {**bar, "everything": "on", "reason": "the audit reads it", "answer": "KEEP-30"}
    after = olga.post(f"{FORM}?lake=main", said, follow=True)  # 3: the button
    assert Hold.objects.count() == 8
    assert after.redirect_chain[-1][0] == page.wsgi_request.get_full_path()
    words = after.content.decode()
    assert "Kept 8 tables until" in words
    assert words.count("by olga") >= 8, "each row says so at once"
    assert 'name="rows"' not in words, "and is not offered again"


def hidden(text: str, name: str) -> str:
    value = text.split(f'name="{name}" value="', 1)[1].split('"', 1)[0]
    return value.replace("&amp;", "&")


def test_what_waits_is_shown_in_the_row_with_its_way_back(people: People, lake: LakeConfig) -> None:
    scanned(lake)
    olga = client(people.owner)
    key = TableFinding.objects.get(table="t1").pk
    said = {"rows": [key], "seen_at": timezone.now().isoformat(), "reason": "law", "next": LIST}
    olga.post(FORM, {**said, "answer": "KEEP_FOREVER"})
    text = olga.get(LIST).content.decode()
    assert "Pending: keep for ever waits for an admin" in text
    assert "Withdraw…" in text
    assert "Withdraw…" not in client(people.admin).get(LIST).content.decode()


def test_people_are_found_by_the_beginning_of_a_name(people: People, lake: LakeConfig) -> None:
    User.objects.filter(username="dora").update(first_name="Dora Dern")
    olga = client(people.owner)
    assert (
        '<option value="dora">Dora Dern</option>'
        in olga.get("/person-options/?to=der").content.decode()
    )
    found = olga.get("/api/v1/person-search/?q=D").json()
    assert found == [{"username": "dora", "name": "Dora Dern"}]
    assert olga.get("/api/v1/person-search/").json() == []
    User.objects.filter(username="dora").update(is_active=False)
    assert olga.get("/api/v1/person-search/?q=dora").json() == []


@pytest.mark.parametrize("who", ["owner", "admin"])
def test_more_rows_cost_no_more_queries(people: People, lake: LakeConfig, who: str) -> None:
    user = client(getattr(people, who))
    costs = []
    for n in (1, 60):
        scan_tables(lake, *(table(number) for number in range(n)), now=timezone.now())
        user.get(f"{LIST}?size=100")
        with CaptureQueriesContext(connection) as caught:
            user.get(f"{LIST}?size=100")
        costs.append(len(caught))
    assert costs[0] == costs[1], costs
