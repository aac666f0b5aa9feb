"""Exceptions are requested in a dialog of the violation's row, from several rules at once."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.models import PolicyRequest
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.scanned import scan

pytestmark = pytest.mark.django_db
LIST, ASK = "/lifecycle/paths/?lake=main&db=sales", "/lifecycle/waivers/ask/"
RULES = ["OWNER_PATH_FAIL", "TBL_NOT_SUB_DB"]


@pytest.fixture
def paul(lake: LakeConfig, people: People) -> Client:
    scan(lake, now=timezone.now())
    found = Client()
    found.force_login(User.objects.create_user("paul"))
    return found


def dialog(paul: Client) -> str:
    page = paul.get(LIST).content.decode()
    assert "Request an exception…" in page
    query = page.split(f'hx-get="{ASK}', 1)[1].split('"', 1)[0]
    return f"{ASK}{query}".replace("&amp;", "&")


def test_the_dialog_opens_with_the_rules_ticked_and_a_last_day(
    paul: Client, lake: LakeConfig
) -> None:
    url = dialog(paul)
    panel = paul.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in panel
    assert panel.count(" checked") == 2
    assert f'value="{timezone.localdate(timezone=lake.zone) + timedelta(days=90)}"' in panel
    assert "<html" in paul.get(url).content.decode(), "without JavaScript it is a page"


def test_both_rules_are_requested_and_the_list_is_where_one_was(paul: Client) -> None:
    initial = paul.get(dialog(paul)).context["form"].initial
    after = paul.post(ASK, {**initial, "reason": "moved in spring"}, follow=True)
    assert after.redirect_chain[-1][0] == LIST
    assert sorted(PolicyRequest.objects.values_list("rule", flat=True)) == RULES
    text = after.content.decode()
    assert "Requested for sales.stray: an exception from" in text
    assert "An exception is requested." in text
    assert "Request an exception…" not in text


def test_what_is_wrong_is_said_in_the_form(paul: Client, people: People) -> None:
    initial = paul.get(dialog(paul)).context["form"].initial
    assert paul.post(ASK, {**initial, "reason": ""}).status_code == 400
    past = paul.post(ASK, {**initial, "reason": "x", "until": "2020-01-01"})
    assert "An exception ends on a day from" in past.content.decode()
    assert paul.post(ASK, {}).status_code == 400
    other = Client()
    other.force_login(people.stranger)
    assert other.post(ASK, {**initial, "reason": "x"}).status_code == 400
    assert not PolicyRequest.objects.exists()
