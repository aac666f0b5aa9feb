"""Tests the emergency stop: who sees, presses and releases it, and that every page shows it."""

import json
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.access.models import User
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_state
from tests.component.conftest import LAKE, People

pytestmark = pytest.mark.usefixtures("lake")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("who", ["owner", "stranger", "operator", "admin"])
def test_everybody_who_is_signed_in_may_press_it(people: People, who: str) -> None:
    address, user = reverse("ui:red-button"), getattr(people, who)
    assert "Stop all drops and purges" in signed_in(user).get(address).content.decode()
    assert Client().post(address, {"do": "press", "reason": "x"}).status_code in (302, 403)
    assert emergency_stop_state(LAKE) is None
    signed_in(user).post(address, {"do": "press", "reason": "odd sizes"})
    press = emergency_stop_state(LAKE)
    assert press is not None
    assert press.pressed_by == user.username
    status = signed_in(user).post(address, {"do": "release", "reason": "fine"}).status_code
    assert status == (302 if who == "admin" else 403)
    assert emergency_stop_state(LAKE) is not None


def test_an_operator_presses_and_two_admins_release(people: People) -> None:
    address = reverse("ui:red-button")
    operator, admin = signed_in(people.operator), signed_in(people.admin)
    second = signed_in(people.second)
    operator.post(address, {"do": "press", "reason": "odd <b>sizes</b>"})
    press = emergency_stop_state(LAKE)
    assert press is not None
    assert press.pressed_by == people.operator.username
    for page in (reverse("ui:home"), reverse("ui:runs")):
        text = signed_in(people.owner).get(page).content.decode()
        assert "The emergency stop is on" in text
        assert "odd &lt;b&gt;sizes&lt;/b&gt;" in text
    assert operator.post(address, {"do": "release", "reason": "fine"}).status_code == 403
    assert "Enter a reason" in admin.post(address, {"do": "release"}).content.decode()
    assert "confirm" not in steps_on(admin.get(address).content.decode())
    admin.post(address, {"do": "release", "reason": "looked: fine"})
    assert steps_on(admin.get(address).content.decode()) == {"withdraw"}
    assert steps_on(operator.get(address).content.decode()) == {"press"}
    shown = second.get(address).content.decode()
    assert steps_on(shown) == {"withdraw", "confirm"}
    assert "looked: fine" in shown
    assert "ada proposed to end it" in operator.get(reverse("ui:home")).content.decode()
    release_id = re.findall(r'name="release_id" value="([^"]+)"', shown)[0]
    confirm = {"do": "confirm", "release_id": release_id}
    assert admin.post(address, confirm).status_code == 403
    assert operator.post(address, confirm).status_code == 403
    assert second.post(address, {"do": "confirm", "release_id": "x"}).status_code == 409
    assert second.post(address, confirm).status_code == 302
    assert emergency_stop_state(LAKE) is None
    assert second.post(address, confirm).status_code == 409


def steps_on(page: str) -> set[str]:
    """Return the steps that the page's own forms take."""
    return set(re.findall(r'name="do" value="(\w+)"', page[page.index("<main") :]))


def test_two_clicks_stop_and_the_reason_follows(people: People) -> None:
    address = reverse("ui:red-button")
    owner = signed_in(people.owner)
    bar = owner.get(reverse("ui:home")).content.decode().split("<main")[0]
    assert f'action="{address}?lake={LAKE}"' in bar
    answer = owner.post(f"{address}?lake={LAKE}", {"do": "press"}, follow=True)
    text = answer.content.decode()
    assert "No reason given yet." in text
    assert "Add the reason" in text
    assert 'class="lw-menu lw-stop"' not in text, "it is pressed"
    stranger = signed_in(people.stranger)
    assert "Add the reason" not in stranger.get(address).content.decode()
    words = {"do": "explain", "reason": "files vanish"}
    assert stranger.post(address, words).status_code == 403
    assert owner.post(address, {"do": "explain", "reason": " "}).status_code == 400
    assert owner.post(address, words).status_code == 302
    assert "files vanish" in stranger.get(reverse("ui:home")).content.decode()
    assert owner.post(address, words).status_code == 409


def test_the_page_lists_what_starts_again(people: People) -> None:
    address = reverse("ui:red-button")
    admin = signed_in(people.admin)
    for kind in ("lifecycle.drop", "lifecycle.drop", "lifecycle.scan"):
        Run.objects.create(
            lake=LAKE, kind=kind, queue="act", requested_by="ada", queued_at=timezone.now()
        )
    admin.post(address, {"do": "press", "reason": "look"})
    text = admin.get(address).content.decode()
    assert re.search(r"Queued runs: [\w ]+</a>: 2", text)
    assert "scan" not in text[text.index("What starts again") : text.index("Reason for resuming")]
    answer = admin.get(reverse("ui:api-red-button")).json()
    assert [one["n_waiting"] for one in answer["resumes"]] == [2]
    assert signed_in(people.owner).get(reverse("ui:api-red-button")).json()["resumes"] == []


def test_the_api_does_the_same(people: People) -> None:
    address = reverse("ui:api-red-button")

    def change(user: User, do: str, reason: str, release_id: str = "") -> int:
        body = json.dumps({"do": do, "reason": reason, "release_id": release_id})
        answer = signed_in(user).post(address, body, content_type="application/json")
        return answer.status_code

    assert signed_in(people.owner).get(address).json()["is_on"] is False
    assert change(people.owner, "press", "x") == 200
    assert change(people.owner, "release", "x") == 403
    assert change(people.admin, "explode", "x") == 400
    assert change(people.admin, "release", "") == 400
    assert change(people.admin, "release", "seen") == 200
    assert change(people.admin, "release", "seen") == 200, "it changes nothing"
    assert change(people.second, "release", "me too") == 409
    found = signed_in(people.second).get(address).json()
    assert found["is_on"] is True
    release = found["release"]
    assert (release["proposed_by"], release["reason"]) == ("ada", "seen")
    assert found["may"] == ["press", "confirm", "withdraw"]
    assert change(people.admin, "confirm", "", release["id"]) == 403
    assert change(people.second, "confirm", "", "") == 409
    assert change(people.second, "withdraw", "") == 200
    assert change(people.second, "confirm", "", release["id"]) == 409, "it was withdrawn"
    assert change(people.second, "release", "now") == 200
    release = signed_in(people.second).get(address).json()["release"]
    assert change(people.admin, "confirm", "", release["id"]) == 200
    found = signed_in(people.admin).get(address).json()
    assert (found["is_on"], found["release"], found["may"]) == (False, None, ["press"])
    assert change(people.admin, "release", "x") == 409
    assert change(people.owner, "press", "") == 200
    found = signed_in(people.owner).get(address).json()
    assert (found["pressed_by"], found["needs_reason"]) == (people.owner.username, True)
    assert change(people.owner, "explain", "odd") == 200
    assert signed_in(people.owner).get(address).json()["reason"] == "odd"
