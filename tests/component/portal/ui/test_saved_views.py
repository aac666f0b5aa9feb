"""Tests saved views of the list of tables: kept, replaced, shared by address, each one's own."""

import re

import pytest
from django.test import Client

from portal.catalog.models import SavedView
from portal.catalog.services.saved_views import MOST_VIEWS
from tests.component.conftest import LAKE, People
from tests.component.portal.ui.test_home_pictures import client_of

pytestmark = pytest.mark.usefixtures("lake")
SAVE = f"/saved-views/?lake={LAKE}"


def views(client: Client, query: str = "") -> dict[str, str]:
    """Return the views that the list shows: name to address."""
    page = client.get(f"/tables/{query}").content.decode()
    found = re.findall(
        r'<li class="lw-view"><a class="lw-chip" href="([^"]+)"[^>]*>(.*?)</a>', page
    )
    return {re.sub("<[^>]+>", "", name): url.replace("&amp;", "&") for url, name in found}


def test_a_filter_is_kept_under_its_name_without_the_place_in_the_list(people: People) -> None:
    client = client_of(people.owner)
    answer = client.post(
        SAVE, {"name": " Bad files ", "query": "level=BAD&after=xyz&sort=name&size=9&odd=1"}
    )
    assert answer["Location"] == f"/tables/?lake={LAKE}&level=BAD&sort=name"
    assert views(client) == {"Bad files": f"/tables/?lake={LAKE}&level=BAD&sort=name"}
    client.post(SAVE, {"name": "Bad files", "query": "level=WARN"})
    assert views(client) == {"Bad files": f"/tables/?lake={LAKE}&level=WARN"}
    assert views(client_of(people.admin)) == {}


def test_the_view_that_is_shown_is_marked(people: People) -> None:
    client = client_of(people.owner)
    client.post(SAVE, {"name": "Bad", "query": "level=BAD"})
    assert 'aria-current="true"' in client.get("/tables/?level=BAD").content.decode()


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\x00b"])
def test_a_name_that_is_none_keeps_nothing_and_says_so(people: People, name: str) -> None:
    client = client_of(people.owner)
    page = client.post(SAVE, {"name": name, "query": "level=BAD"}, follow=True)
    assert page.status_code in (200, 400)
    assert not SavedView.objects.exists()


def test_a_view_is_deleted_by_its_owner_alone(people: People) -> None:
    client = client_of(people.owner)
    client.post(SAVE, {"name": "Bad", "query": "level=BAD"})
    view = SavedView.objects.get()
    assert client_of(people.admin).post(f"/saved-views/{view.pk}/delete/").status_code == 404
    assert client.post(f"/saved-views/{view.pk}/delete/").status_code == 302
    assert views(client) == {}


def test_thirty_views_are_enough(people: People) -> None:
    client = client_of(people.owner)
    for n in range(MOST_VIEWS + 1):
        client.post(SAVE, {"name": f"v{n}", "query": ""})
    assert SavedView.objects.count() == MOST_VIEWS
    client.post(SAVE, {"name": "v0", "query": "level=BAD"})
    assert SavedView.objects.get(name="v0").query == "level=BAD"


def test_the_api_keeps_the_same(people: People) -> None:
    client, api = client_of(people.owner), f"/api/v1/saved-views/?lake={LAKE}"
    kept = client.post(api, {"name": "Bad", "query": "level=BAD&after=x"}, "application/json")
    assert (kept.status_code, kept.json()["query"]) == (200, "level=BAD")
    assert [view["name"] for view in client.get(api).json()] == ["Bad"]
    gone = client.post(f"/api/v1/saved-views/{kept.json()['id']}/delete/", {}, "application/json")
    assert gone.status_code == 200
    assert client.get(api).json() == []
