"""Tests the emergency stop: who sees, presses and releases it, and that every page shows it."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from portal.access.models import User
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


def test_an_operator_presses_an_admin_releases_always_with_a_reason(people: People) -> None:
    address = reverse("ui:red-button")
    operator, admin = signed_in(people.operator), signed_in(people.admin)
    assert "Enter a reason" in operator.post(address, {"do": "press"}).content.decode()
    assert emergency_stop_state(LAKE) is None
    operator.post(address, {"do": "press", "reason": "odd <b>sizes</b>"})
    press = emergency_stop_state(LAKE)
    assert press is not None
    assert press.pressed_by == people.operator.username
    for page in (reverse("ui:home"), reverse("ui:runs")):
        text = signed_in(people.owner).get(page).content.decode()
        assert "The emergency stop is on" in text
        assert "odd &lt;b&gt;sizes&lt;/b&gt;" in text
    assert operator.post(address, {"do": "release", "reason": "fine"}).status_code == 403
    admin.post(address, {"do": "release", "reason": "looked: fine"})
    assert emergency_stop_state(LAKE) is None


def test_the_api_does_the_same(people: People) -> None:
    address = reverse("ui:api-red-button")

    def change(user: User, do: str, reason: str) -> int:
        body = json.dumps({"do": do, "reason": reason})
        answer = signed_in(user).post(address, body, content_type="application/json")
        return answer.status_code

    assert signed_in(people.owner).get(address).json()["is_on"] is False
    assert change(people.owner, "press", "x") == 200
    assert change(people.owner, "release", "x") == 403
    assert change(people.admin, "release", "x") == 200
    assert change(people.admin, "press", "") == 400
    assert change(people.admin, "explode", "x") == 400
    assert change(people.admin, "press", "x") == 200
    assert signed_in(people.owner).get(address).json()["pressed_by"] == people.admin.username
    assert change(people.operator, "release", "x") == 403
    assert change(people.admin, "release", "x") == 200
    assert change(people.admin, "release", "x") == 409
