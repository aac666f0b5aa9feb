"""Tests the guided tour of the demo: shown there alone, and ticked off by what people did."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.access.models import User
from portal.audit.services import audit_record
from tests.component.conftest import LAKE, People
from tests.component.portal.ui.test_home_pictures import client_of

pytestmark = pytest.mark.usefixtures("lake")
TITLES = [
    "Answer an expiry notice",
    "Approve a drop",
    "Restore it",
    "Repair a stale cache",
    "Compact a table",
]


@pytest.fixture
def touring(settings: Any) -> None:
    settings.LAKEWARDEN_TOUR_SINCE = (timezone.now() - timedelta(hours=1)).isoformat()


def steps(client: Client) -> dict[str, bool]:
    """Return the steps that Home shows, and whether each is done."""
    page = client.get("/").content.decode()
    found = re.findall(r'<li( class="lw-tour-done")?>\s*<h3>(.*?)</h3>', page, re.DOTALL)
    return {re.sub("<.*>", "", title).strip(): bool(done) for done, title in found}


def done(action: str, *, hours_ago: float = 0) -> None:
    audit_record(
        action,
        actor="alice",
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={},
        now=timezone.now() - timedelta(hours=hours_ago),
    )


def test_a_real_portal_has_no_tour(people: People) -> None:
    assert steps(client_of(people.admin)) == {}


def test_a_step_is_done_once_somebody_did_it_since_the_demo_began(
    people: People, touring: None
) -> None:
    client = client_of(people.owner)
    done("optimizer.asked", hours_ago=2)
    assert steps(client) == dict.fromkeys(TITLES, False)
    done("hold.placed")
    done("restore.requested")
    ticked = {title for title, is_done in steps(client).items() if is_done}
    assert ticked == {TITLES[0], TITLES[2]}


def test_a_step_of_somebody_else_leads_to_their_log_in(people: People, touring: None) -> None:
    """Somebody who is not who does the step cannot do it on its page."""
    page = client_of(people.owner).get("/").content.decode()
    assert page.count("Sign in as ada") == 1
    assert page.count("Sign in as otto") == 2
    assert 'name="next" value="/login/?next=' in page
    client = client_of(named("alice"))
    page = client.get("/").content.decode()
    assert page.count("Sign in as alice") == 0
    assert page.count(">Begin<") == 2
    assert page.count("Sign in as otto") == 2
    form = page[: page.index("Sign in as ada")].rsplit("<form", 1)[1]
    back = html.unescape(re.findall(r'name="next" value="([^"]+)"', form)[0])
    answer: Any = client.post("/logout/", {"next": back})
    assert answer.headers["Location"] == back
    assert client.get(back).status_code == 200


def named(username: str) -> User:
    return User.objects.create_user(username, password="x")


def test_the_tour_can_be_hidden(people: People, touring: None) -> None:
    client = client_of(people.owner)
    assert client.post("/home/tour/hide/").status_code == 302
    assert steps(client) == {}
