"""Comments on proposals: who may write and read them, and what is refused."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.access.models import User
from portal.approvals.comments import MOST_AT_ONCE, MOST_SIGNS, comment_add, comments_on
from portal.approvals.models import ApprovalComment
from portal.audit.models import AuditEvent
from portal.lake.errors import PortalError
from tests.component.conftest import NOW, People
from tests.component.portal.approvals.proposal_rows import CASES

pytestmark = pytest.mark.usefixtures("lake")


def code(refused: Callable[[], Any]) -> str:
    """Return the code of the error."""
    with pytest.raises(PortalError) as raised:
        refused()
    return raised.value.code


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("name", CASES)
def test_who_sees_a_proposal_comments_on_it_and_others_find_none(people: People, name: str) -> None:
    kind = CASES[name].kind
    found = CASES[name].ask("ada", NOW, 0)

    def write(user: User) -> ApprovalComment:
        return comment_add(kind.name, found.pk, user=user, text=" Why now?\r\n ", now=NOW)

    for user in (people.second, people.operator):
        assert write(user).text == "Why now?"
    unseen = code(lambda: kind.get_for_user(found.pk, user=people.stranger))
    assert code(lambda: write(people.stranger)) == unseen
    assert code(lambda: comments_on(kind.name, found.pk, user=people.stranger)) == unseen
    said = comments_on(kind.name, found.pk, user=people.third)
    assert [one.author for one in said] == ["ben", "otto"]
    event = AuditEvent.objects.get(action=f"{kind.audited_as}.commented", actor="ben")
    assert (event.object_id, event.data["text"]) == (str(found.pk), "Why now?")


def test_what_is_refused(people: People) -> None:
    kind, found = CASES["drop plan"].kind, CASES["drop plan"].ask("ada", NOW, 0)

    def write(text: str, **more: Any) -> ApprovalComment:
        given = {"user": people.second, "now": NOW, **more}
        return comment_add(kind.name, found.pk, text=text, **given)

    assert code(lambda: write(" \n ")) == "comment.empty"
    assert code(lambda: write("a" * (MOST_SIGNS + 1))) == "comment.long"
    assert code(lambda: write("a\x00b")) == "text.control"
    assert code(
        lambda: comment_add("nothing", found.pk, user=people.second, text="a", now=NOW)
    ) == ("approval.kind")
    for _ in range(MOST_AT_ONCE):
        write("a" * MOST_SIGNS)
    assert code(lambda: write("a")) == "comment.too_many"
    assert write("a", user=people.third).author == "cem"
    assert write("a", now=NOW + timedelta(minutes=10)).author == "ben"


@pytest.mark.parametrize("name", CASES)
def test_the_page_shows_comments_escaped_and_takes_new_ones(people: People, name: str) -> None:
    kind = CASES[name].kind
    found = CASES[name].ask("ada", timezone.now(), 0)
    client = client_of(people.second)
    address = f"/approvals/{kind.name}/{found.pk}/comments/"
    body = {"text": "<b>Why</b>\nnow?", "inbox": "tab=all"}
    answer = client.post(address, body, follow=True)
    there = "inbox=tab%3Dall#discussion"
    assert answer.redirect_chain == [(f"{kind.url_of(found)}?{there}", 302)]
    text = answer.content.decode()
    assert "&lt;b&gt;Why&lt;/b&gt;<br>now?" in text
    assert "<b>Why</b>" not in text
    assert client.get(address).status_code == 405
    assert client_of(people.stranger).post(address, body).status_code == 404
    assert client.post(address, {"text": ""}).status_code == 400


def test_the_api_has_the_same(people: People) -> None:
    kind, found = CASES["drop plan"].kind, CASES["drop plan"].ask("ada", timezone.now(), 0)
    client = client_of(people.second)
    address = f"/api/v1/approvals/{kind.name}/{found.pk}/comments/"
    made = client.post(address, {"text": "Why?"}, content_type="application/json")
    assert made.status_code == 201
    assert client.get(address).json() == [made.json()]
    assert set(made.json()) == {"id", "author", "at", "text"}
    long = {"text": "a" * (MOST_SIGNS + 1)}
    assert client.post(address, long, content_type="application/json").status_code == 400
    stranger = client_of(people.stranger)
    assert stranger.get(address).status_code == 404
    assert stranger.post(address, {"text": "a"}, content_type="application/json").status_code == 404
