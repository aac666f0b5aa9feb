"""Tests sign-in, re-login, sign-out and the theme: they do what they say and nothing else."""

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.access.fresh import FRESH_SECONDS, authenticated_at, is_fresh
from tests.component.conftest import People

PASSWORD = "correct horse staple"
pytestmark = pytest.mark.usefixtures("lake")


def fresh(client: Client) -> bool:
    request = type("Request", (), {"session": client.session})()
    return is_fresh(request, timezone.now())


def test_signing_in_counts_as_fresh_and_lands_where_one_wanted_to_go(people: People) -> None:
    client = Client()
    wanted = reverse("ui:runs") + "?state=DONE"
    form = {"username": people.owner.username, "password": PASSWORD, "next": wanted}
    wrong = client.post(reverse("ui:login"), {**form, "password": "wrong"})
    assert wrong.status_code == 200
    assert "correct user" in wrong.content.decode()
    answer = client.post(reverse("ui:login"), form)
    assert answer["Location"] == wanted
    assert fresh(client)


@pytest.mark.parametrize("away", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_no_page_sends_the_person_to_another_site(people: People, away: str) -> None:
    client = Client()
    client.force_login(people.owner)
    home = reverse("ui:home")
    again = client.post(reverse("ui:fresh-login"), {"password": PASSWORD, "next": away})
    assert again["Location"] == home
    theme = client.post(reverse("ui:theme"), {"theme": "dark", "next": away})
    assert theme["Location"] == home
    form = {"username": people.owner.username, "password": PASSWORD, "next": away}
    assert Client().post(reverse("ui:login"), form)["Location"] == home


def test_re_login_asks_for_ones_own_password(people: People) -> None:
    client = Client()
    client.force_login(people.admin)
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp() - FRESH_SECONDS - 5
    session.save()
    assert not fresh(client)
    address = reverse("ui:fresh-login")
    assert "Confirm your password" in client.get(address).content.decode()
    assert client.post(address, {"password": "wrong"}).status_code == 200
    assert not fresh(client)
    wanted = reverse("ui:audit")
    answer = client.post(address, {"password": PASSWORD, "next": wanted})
    assert answer["Location"] == wanted
    assert fresh(client)
    request = type("Request", (), {"session": client.session})()
    assert authenticated_at(request) is not None


def test_proving_it_again_changes_the_session_id(people: People) -> None:
    """An id that somebody copied before does not become fresh with the proof."""
    client = Client()
    client.force_login(people.admin)
    before = client.session.session_key
    assert client.post(reverse("ui:fresh-login"), {"password": "wrong"}).status_code == 200
    assert client.session.session_key == before
    client.post(reverse("ui:fresh-login"), {"password": PASSWORD})
    assert client.session.session_key != before
    assert client.get(reverse("ui:profile")).status_code == 200
    copied = Client()
    copied.cookies[settings.SESSION_COOKIE_NAME] = str(before)
    assert copied.get(reverse("ui:profile")).status_code == 302


def test_signing_out_is_a_post_with_the_token(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.owner)
    assert client.get(reverse("ui:logout")).status_code == 405
    assert client.post(reverse("ui:logout")).status_code == 403
    plain = Client()
    plain.force_login(people.owner)
    assert plain.post(reverse("ui:logout")).status_code == 302
    assert plain.get(reverse("ui:home")).status_code == 302


def test_the_theme_is_kept_by_the_browser_and_odd_ones_are_not(people: People) -> None:
    client = Client()
    client.force_login(people.owner)
    client.post(reverse("ui:theme"), {"theme": "dark"})
    assert 'data-bs-theme="dark"' in client.get(reverse("ui:profile")).content.decode()
    client.cookies["lw_theme"] = '"><script>'
    assert 'data-lw-theme="auto"' in client.get(reverse("ui:profile")).content.decode()


def test_the_theme_needs_the_forms_token_and_sets_one_plain_cookie(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.owner)
    page = client.get(reverse("ui:profile")).content.decode()
    token = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    address = reverse("ui:theme")
    assert client.post(address, {"theme": "dark"}).status_code == 403
    assert client.get(address).status_code == 405
    form = {"theme": "dark", "csrfmiddlewaretoken": token}
    answer = client.post(address, form)
    assert answer.status_code == 302
    cookie = answer.cookies["lw_theme"]
    assert (cookie.value, cookie["samesite"], cookie["httponly"]) == ("dark", "Lax", True)
    for odd in ("x\r\nSet-Cookie: a=b", '"><script>', "DARK", "", "dark;path=/x", "\x00"):
        refused = client.post(address, form | {"theme": odd})
        assert refused.status_code == 302
        assert "lw_theme" not in refused.cookies, odd
