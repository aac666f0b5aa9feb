"""The pages and the API of people and service accounts: who sees, who changes, what is said."""

import json
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.access.models import OwnerMapping, User
from portal.people.deprovisioning import person_close
from portal.people.models import SignInIdentity
from tests.component.conftest import LAKE, NOW, People

pytestmark = pytest.mark.usefixtures("lake")


def signed_in(user: User, *, fresh: bool = True) -> Client:
    client = Client()
    client.force_login(user)
    if fresh:
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
    return client


def page(client: Client, name: str, query: str = "") -> str:
    answer = client.get(reverse(name) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def api(client: Client, name: str, *args: str, **said: Any) -> Any:
    address = reverse(name, args=args)
    return client.post(address, json.dumps(said), content_type="application/json")


def test_the_list_says_who_is_here_and_who_left(people: People, now: datetime) -> None:
    SignInIdentity.objects.create(
        user=people.second, way="oidc", subject="x 1", first_at=now, last_at=now
    )
    person_close("stan", user=people.admin, reason="moved <b>away</b>", now=now)
    client = signed_in(people.admin)
    text = page(client, "ui:people")
    assert "moved &lt;b&gt;away&lt;/b&gt;" in text
    assert "Enable the account of stan" in text
    assert "Disable the account of olga" in text
    assert "Disable the account of ada" not in text, "nobody closes their own account"
    left = page(client, "ui:people", "?state=LEFT")
    assert "<code>stan</code>" in left
    assert "<code>olga</code>" not in left
    assert "<code>ben</code>" in page(client, "ui:people", "?way=oidc")
    assert "<code>otto</code>" not in page(client, "ui:people", "?role=admin")
    assert "Nobody fits this filter" in page(client, "ui:people", "?username=zzz")
    assert "Close the account" not in page(signed_in(people.operator), "ui:people")
    answer = client.get(reverse("ui:people") + "?format=csv&state=LEFT")
    csv = b"".join(answer).decode()
    assert csv.splitlines()[1].startswith("stan,,stan@example.org,owner,local,LEFT")


def test_closing_needs_a_fresh_login_and_is_over_the_api_too(people: People) -> None:
    stale = signed_in(people.admin, fresh=False)
    address = reverse("ui:person-close", args=["stan"])
    assert stale.post(address, {"reason": "gone"})["Location"].startswith("/login/again/")
    assert api(stale, "ui:api-person-close", "stan", reason="gone").status_code == 403
    assert User.objects.get(username="stan").is_active
    client = signed_in(people.admin)
    assert client.post(address, {"reason": "gone"}).status_code == 302
    assert not User.objects.get(username="stan").is_active
    assert api(client, "ui:api-person-reopen", "stan", reason="back").status_code == 204
    assert User.objects.get(username="stan").is_active
    assert api(client, "ui:api-person-close", "stan", reason="").status_code == 400
    assert api(client, "ui:api-person-close", "nobody", reason="gone").status_code == 404
    listed = client.get(reverse("ui:api-people") + "?state=HERE").json()["results"]
    assert {"username": "ada", "roles": ["admin"], "way": "local", "state": "HERE"}.items() <= next(
        row for row in listed if row["username"] == "ada"
    ).items()


def test_a_service_account_gets_its_people_by_page_and_api(people: People) -> None:
    client = signed_in(people.admin)
    assert "No accounts are mapped" in page(client, "ui:owners")
    assert 'value="etl_user"' in page(client, "ui:owners", "?owner=etl_user")
    form = {"owner": "etl_user", "people": "olga, stan", "reason": "the etl team"}
    client.post(reverse("ui:owner-set"), form)
    text = page(client, "ui:owners")
    assert "<code>etl_user</code>" in text
    wrong = client.post(reverse("ui:owner-set"), {**form, "people": "olga, nobody"})
    assert wrong.status_code == 400
    assert "Nobody called" in wrong.content.decode()
    odd = client.post(reverse("ui:owner-set"), {**form, "owner": "a\r\nBcc: x"})
    assert odd.status_code == 400
    answer = api(client, "ui:api-owners", owner="etl_user", people=["olga"], reason="fewer")
    assert answer.json() == {"owner": "etl_user", "people": ["olga"]}
    assert api(client, "ui:api-owners", owner="etl_user", people="x", reason="y").status_code == 400
    person_close("olga", user=people.admin, reason="left", now=NOW)
    (row,) = client.get(reverse("ui:api-owners")).json()["results"]
    assert (row["username"], row["state"], row["added_by"]) == ("olga", "LEFT", "ada")
    assert "Assign responsible person" not in page(signed_in(people.operator), "ui:owners")
    client.post(reverse("ui:owner-set"), {**form, "people": ""})
    assert not OwnerMapping.objects.filter(lake=LAKE).exists()


@pytest.mark.parametrize("name", ["ui:people", "ui:owners", "ui:api-people", "ui:api-owners"])
def test_owners_of_data_do_not_see_who_works_here(people: People, name: str) -> None:
    assert signed_in(people.owner).get(reverse(name)).status_code == 404


def test_the_lists_cost_the_same_for_many(
    people: People, django_assert_max_num_queries: Any
) -> None:
    client = signed_in(people.admin)
    User.objects.bulk_create([User(username=f"user{number:03}") for number in range(150)])
    client.get(reverse("ui:people"))
    with django_assert_max_num_queries(14):
        client.get(reverse("ui:people"))
    with django_assert_max_num_queries(14):
        client.get(reverse("ui:owners"))
