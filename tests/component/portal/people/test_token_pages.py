"""The pages and the API of tokens: who sees, who makes, who ends, and the secret is shown once."""

import csv
import io
import json
import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.access import scopes
from portal.access.models import OwnerMapping, User
from portal.access.scopes import Scope, register_scope
from portal.access.services import person_create
from portal.people.models import ApiToken
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make, token_of
from tests.component.conftest import LAKE, NOW, People
from tests.component.portal.people.test_people_pages import page, signed_in

register_scope(Scope("refresh", "Tell what a job has written."))
pytestmark = pytest.mark.usefixtures("lake")
FORM = {"name": "nightly load", "scope": "refresh", "days": "30"}
SECRET = re.compile(r'value="(lw_[\w-]{43})"')


def made(user: User, name: str = "nightly load", *, days_ago: int = 0) -> tuple[ApiToken, str]:
    wish = TokenParams(name, ("refresh",), 9)
    then = timezone.now() - timedelta(days=days_ago)
    return token_make(user.username, wish, user=user, now=then)


def make(client: Client, **said: Any) -> Any:
    wish = {"name": "job", "scopes": ["refresh"], "days": 9, **said}
    return client.post(reverse("ui:api-tokens"), json.dumps(wish), content_type="application/json")


def end(client: Client, token_id: object) -> Any:
    return client.post(reverse("ui:api-token-end", args=[token_id]))


def opens(secret: str) -> bool:
    return token_of(secret, address="", now=timezone.now()) is not None


def test_a_token_is_made_on_the_page_and_its_secret_shown_once(people: People) -> None:
    client = signed_in(people.owner)
    assert "No tokens yet" in page(client, "ui:tokens")
    assert "service account" not in page(client, "ui:token-new").lower()
    answer = client.post(reverse("ui:token-new"), FORM)
    text = answer.content.decode()
    (secret,) = SECRET.findall(text)
    assert opens(secret)
    assert "no-store" in answer["Cache-Control"]
    assert text.count(secret) == 1
    token = ApiToken.objects.get()
    assert (token.owner, token.made_by) == (people.owner, "olga")
    assert (token.expires_at - token.made_at).days == 30
    listed = page(client, "ui:tokens")
    assert "nightly load" in listed
    assert "Active" in listed
    assert secret[3:] not in listed


def test_a_wrong_form_comes_back_with_words_and_makes_nothing(people: People) -> None:
    client = signed_in(people.owner)
    for wrong in (
        {"name": ""},
        {"name": "a\u2028b"},
        {"scope": "approve"},
        {"days": "0"},
        {"days": "367"},
        {"days": "x"},
    ):
        answer = client.post(reverse("ui:token-new"), FORM | wrong)
        assert answer.status_code == 400, wrong
        assert "lw-field-error" in answer.content.decode(), wrong
        said = {"scopes": [wrong["scope"]]} if "scope" in wrong else wrong
        assert make(client, **said).status_code == 400, wrong
    # Who is no admin has no field for another's name, and naming one changes nothing.
    client.post(reverse("ui:token-new"), FORM | {"owner": "ada"})
    assert [token.owner.username for token in ApiToken.objects.all()] == ["olga"]


def test_making_needs_a_fresh_login(people: People) -> None:
    stale = signed_in(people.owner, fresh=False)
    assert stale.get(reverse("ui:token-new"))["Location"].startswith("/login/again/")
    assert stale.post(reverse("ui:token-new"), FORM)["Location"].startswith("/login/again/")
    answer = make(stale)
    assert (answer.status_code, answer.json()["code"]) == (403, "person.fresh_login")
    assert not ApiToken.objects.exists()


def test_an_admin_makes_one_for_a_service_account_only(people: People) -> None:
    OwnerMapping.objects.create(
        lake=LAKE, owner="etl_user", username="olga", added_by="ada", added_at=NOW
    )
    person_create("etl_user", password="correct horse staple", email="etl@example.org")
    client = signed_in(people.admin)
    answer = client.post(reverse("ui:token-new"), FORM | {"owner": "etl_user"})
    assert "It acts as etl_user until" in answer.content.decode()
    answer = client.post(reverse("ui:token-new"), FORM | {"owner": "ben"})
    assert answer.status_code == 400
    assert "is no service account" in answer.content.decode()
    assert make(client, owner="etl_user").json()["owner"] == "etl_user"
    other = make(signed_in(people.operator), owner="etl_user")
    assert other.json()["code"] == "token.person"


def test_everybody_sees_their_own_and_keepers_all(people: People) -> None:
    made(people.owner, "job of olga")
    _, secret = made(people.admin, "job of ada")
    assert opens(secret)
    made(people.stranger, "old job", days_ago=10)
    for user, seen in (
        (people.owner, ["job of olga"]),
        (people.dba, []),
        (people.operator, ["job of ada", "job of olga", "old job"]),
    ):
        client = signed_in(user)
        text = page(client, "ui:tokens")
        names = [name for name in ("job of ada", "job of olga", "old job") if name in text]
        assert names == seen
        rows = client.get(reverse("ui:api-tokens")).json()["results"]
        assert sorted(row["name"] for row in rows) == seen
    client = signed_in(people.admin)
    for query, names in (
        ("state=EXPIRED", ["old job"]),
        ("state=LIVE", ["job of ada", "job of olga"]),
        ("owner=olga", ["job of olga"]),
        ("name=job+of+a", ["job of ada"]),
        ("sort=expires", ["old job", "job of olga", "job of ada"]),
        ("sort=-used&size=1", ["job of ada"]),
    ):
        rows = client.get(f"{reverse('ui:api-tokens')}?{query}").json()["results"]
        assert [row["name"] for row in rows] == names
    assert "No token fits this filter" in page(client, "ui:tokens", "?owner=nobody")


def test_anothers_token_is_not_there_and_not_ended(people: People) -> None:
    token, secret = made(people.owner)
    stranger = signed_in(people.stranger)
    address = reverse("ui:token-end", args=[token.public_id])
    assert stranger.post(address).status_code == 404
    answer = end(stranger, token.public_id)
    assert (answer.status_code, answer.json()["code"]) == (404, "token.unknown")
    assert opens(secret)
    client = signed_in(people.owner, fresh=False)
    assert client.post(address).status_code == 302, "ending needs no fresh log-in"
    assert not opens(secret)
    answer = end(signed_in(people.operator), token.public_id)
    assert answer.json()["ended_by"] == "olga", "it was ended already"


def test_the_list_as_csv_has_no_digest(people: People) -> None:
    token, _ = made(people.owner, "=1+1")
    answer: Any = signed_in(people.owner).get(reverse("ui:tokens") + "?format=csv")
    text = b"".join(answer).decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["public_id"] == str(token.public_id)
    assert row["owner.username"] == "olga"
    assert row["scopes"] == "refresh"
    assert row["state"] == "LIVE"
    assert row["name"] == "'=1+1"
    assert token.digest not in text


def test_over_the_api_the_secret_is_given_once_and_stands_nowhere_else(
    people: People, caplog: pytest.LogCaptureFixture
) -> None:
    client = signed_in(people.owner)
    with caplog.at_level(logging.DEBUG):
        answer = make(client)
        assert answer.status_code == 201
        assert answer["Cache-Control"] == "no-store"
        secret = answer.json()["secret"]
        made_id = answer.json()["id"]
        assert opens(secret)
        rest = client.get(reverse("ui:api-tokens")).content.decode()
        rest += page(client, "ui:tokens") + page(client, "ui:audit")
        rest += end(client, made_id).content.decode()
    kept = io.StringIO()
    call_command("dumpdata", stdout=kept)
    for place in (rest, kept.getvalue(), caplog.text):
        assert secret[3:] not in place
    digest = ApiToken.objects.get().digest
    assert digest not in rest
    assert "token.made" in kept.getvalue()


def test_a_token_makes_no_other_and_ends_none(people: People) -> None:
    token, secret = made(people.admin)
    headers = {"Authorization": f"Bearer {secret}"}
    body = json.dumps({"name": "x", "scopes": ["refresh"], "days": 9})
    for where in (
        reverse("ui:api-tokens"),
        reverse("ui:api-token-end", args=[token.public_id]),
    ):
        answer = Client().post(where, body, content_type="application/json", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "token.not_here")
    assert Client().get(reverse("ui:api-tokens"), headers=headers).status_code == 403
    assert ApiToken.objects.count() == 1
    assert opens(secret)


def test_where_nothing_takes_tokens_the_pages_say_so(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scopes, "_scopes", {})
    client = signed_in(people.owner)
    for name in ("ui:tokens", "ui:token-new"):
        text = page(client, name)
        assert "No program needs a token" in text
        assert "Make a token" not in text
    answer = client.post(reverse("ui:token-new"), FORM)
    assert answer.status_code == 400
    assert not ApiToken.objects.exists()


def test_the_list_costs_the_same_for_many_and_turns_its_pages(
    people: People, django_assert_num_queries: Any
) -> None:
    client = signed_in(people.admin)
    made(people.owner)
    page(client, "ui:tokens")
    with django_assert_num_queries(10):
        page(client, "ui:tokens")
    now = timezone.now()
    ApiToken.objects.bulk_create(
        ApiToken(
            name=f"job {n}", digest=f"{n:064}", owner=people.owner, scopes=["refresh"],
            made_by="olga", made_at=now - timedelta(minutes=n), expires_at=now + timedelta(days=1),
        )
        for n in range(120)
    )  # fmt: skip
    with django_assert_num_queries(10):
        page(client, "ui:tokens")
    seen, where = [], reverse("ui:api-tokens") + "?sort=-used"
    while where:
        answer = client.get(where).json()
        seen += [row["id"] for row in answer["results"]]
        where = answer["next"]
    assert len(seen) == len(set(seen)) == 121


def test_the_gauges_say_how_many_there_are_and_which_jobs_stop_soon(people: People) -> None:
    _, used = made(people.owner)
    made(people.owner, "never used")
    made(people.stranger, days_ago=10)
    assert opens(used)
    text = Client().get("/metrics").content.decode()
    assert 'lakewarden_api_tokens{state="LIVE"} 2' in text
    assert 'lakewarden_api_tokens{state="EXPIRED"} 1' in text
    assert "lakewarden_api_tokens_ending 1" in text
