"""Tests password guessing: slowed by name and by address, reported, and nobody kept out."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed
from portal.people.domain import FREE_TRIES, LONGEST_LOCK, Counted
from portal.people.lockout import Try, address_of, try_begins, try_succeeded
from portal.people.models import LoginAttempts
from tests.component.conftest import People

PASSWORD = "correct horse staple"
FREE = FREE_TRIES[Counted.NAME]
pytestmark = pytest.mark.usefixtures("lake")


def come(name: str, password: str, *, address: str = "10.0.0.1") -> tuple[bool, str]:
    client = Client(REMOTE_ADDR=address)
    answer = client.post(reverse("ui:login"), {"username": name, "password": password})
    return "_auth_user_id" in client.session, answer.content.decode()


def let_time_pass(**by: float) -> None:
    for row in LoginAttempts.objects.exclude(locked_until=None):
        assert row.locked_until is not None
        row.locked_until -= timedelta(**by)
        row.save()


def test_a_name_is_locked_after_a_few_failures_and_free_again_soon(people: People) -> None:
    for _ in range(FREE):
        is_in, page = come("ada", "wrong")
        assert not is_in
    assert "Too many" not in page
    is_in, page = come("ADA", PASSWORD, address="10.9.9.9")
    assert not is_in, "the right password does not help while it is locked, from anywhere"
    assert "Try again in 1 minute" in page
    assert "UTC" in page
    assert come("ben", PASSWORD)[0], "others are not kept out"
    event = AuditEvent.objects.get(action="sign_in.locked")
    assert (event.object_id, event.data["address"], event.lake) == ("ada", "10.0.0.1", "main")
    let_time_pass(minutes=1)
    assert come("ada", PASSWORD)[0]
    assert not LoginAttempts.objects.filter(counted=Counted.NAME, n_failed__gt=0).exists()


@pytest.mark.parametrize(
    "spelling",
    ["\uff41da", "ad\u00ada", "\u200bada", "a\u0301da", "\U0001d41ada", " ada\u3000"],
    ids=["full width", "soft hyphen", "zero width", "accent", "bold", "wide space"],
)
def test_a_name_spelt_otherwise_shares_the_tries_of_the_name(people: People, spelling: str) -> None:
    """The log-in form and directories take other spellings for the same name."""
    for number in range(FREE):
        come("ada" if number % 2 else spelling, "wrong", address=f"10.1.0.{number}")
    for name in ("ada", spelling):
        is_in, page = come(name, PASSWORD, address="10.9.9.9")
        assert (is_in, "Too many" in page) == (False, True), name
    event = AuditEvent.objects.get(action="sign_in.locked")
    assert event.object_id in ("ada", "(nobody's name)")


def test_the_full_width_spelling_of_a_locked_name_is_audited_under_the_name(
    people: People,
) -> None:
    for _ in range(FREE):
        come("\uff41da", "wrong")
    assert AuditEvent.objects.get(action="sign_in.locked").object_id == "ada"


def test_a_name_that_nobody_has_is_locked_alike_and_not_written_down(people: People) -> None:
    for _ in range(FREE):
        come("my-Secret-Password", "wrong")
    assert "Too many" in come("my-secret-password", "wrong")[1]
    event = AuditEvent.objects.get(action="sign_in.locked")
    assert "my-" not in f"{event.object_id}{event.data}".lower()
    assert not LoginAttempts.objects.filter(key__icontains="secret").exists()


def test_an_address_that_tries_many_names_is_locked(people: People) -> None:
    for number in range(FREE_TRIES[Counted.ADDRESS]):
        come(f"user{number}", "wrong", address="10.6.6.6")
    assert not come("ada", PASSWORD, address="10.6.6.6")[0]
    assert come("ada", PASSWORD, address="10.0.0.2")[0]
    for _ in range(FREE_TRIES[Counted.ADDRESS] + 5):
        assert come("ben", PASSWORD, address="10.0.0.3")[0], "log-ins that work cost nothing"


def test_tries_at_the_same_instant_are_not_all_free(people: People, now: datetime) -> None:
    tried = Try("ada", "10.0.0.1")
    for _ in range(FREE):
        try_begins(tried, now=now)
    with pytest.raises(NotAllowed) as refused:
        try_begins(tried, now=now)
    assert refused.value.code == "sign_in.locked"
    try_begins(tried, now=now + LONGEST_LOCK)
    try_succeeded(tried, now=now)
    try_begins(tried, now=now)


def test_proving_it_again_is_counted_for_itself(people: People) -> None:
    """Who keeps failing at the door with an admin's name cannot keep the admin from approving."""
    client = Client()
    client.force_login(people.admin)
    for _ in range(FREE + 1):
        come("ada", "wrong")
    address = reverse("ui:fresh-login")
    assert client.post(address, {"password": PASSWORD}).status_code == 302
    for _ in range(FREE):
        assert "not your password" in client.post(address, {"password": "x"}).content.decode()
    assert "Too many" in client.post(address, {"password": PASSWORD}).content.decode()


@pytest.mark.parametrize(
    ("n_proxies", "header", "seen"),
    [
        (0, "1.1.1.1", "10.0.0.9"),
        (1, "", "10.0.0.9"),
        (1, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        (2, "6.6.6.6, 1.1.1.1, 10.0.0.8", "1.1.1.1"),
        (3, "1.1.1.1", "1.1.1.1"),
        (1, "1.1.1.1, ", "10.0.0.9"),
    ],
)
def test_a_browser_cannot_choose_its_address(
    settings: Any, n_proxies: int, header: str, seen: str
) -> None:
    settings.LAKEWARDEN_PROXIES = n_proxies
    headers = {"X-Forwarded-For": header} if header else {}
    request = RequestFactory(REMOTE_ADDR="10.0.0.9", headers=headers).get("/")
    assert address_of(request) == seen


def test_locks_do_not_touch_who_is_in_already(people: People) -> None:
    client = Client()
    client.force_login(people.admin)
    for _ in range(FREE + 1):
        come("ada", "wrong")
    assert client.get(reverse("ui:profile")).status_code == 200
    assert LoginAttempts.objects.filter(locked_until__gt=timezone.now()).exists()
