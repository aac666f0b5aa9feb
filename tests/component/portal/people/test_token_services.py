"""Tests API tokens: who may create and end them, when they expire, and their audit record."""

import logging
from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from portal.access.models import OwnerMapping, User
from portal.access.scopes import Scope, register_scope
from portal.access.services import person_create
from portal.audit.models import AuditEvent
from portal.audit.services import audit_verify
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.people.deprovisioning import person_close, person_reopen
from portal.people.models import ApiToken, Deactivation
from portal.people.selectors import tokens_at, tokens_for_user
from portal.people.token_rules import MOST_LIVE, TokenParams, digest_of
from portal.people.tokens import (
    MadeToken,
    token_end,
    token_make,
    token_make_on_host,
    token_of,
)
from tests.component.conftest import LAKE, People
from tests.support.together import together

register_scope(Scope("refresh", "Tell what a job has written."))
pytestmark = pytest.mark.usefixtures("lake")
WISH = TokenParams("nightly load", ("refresh",), 90)
DAY = timedelta(days=1)


def made(user: User, now: datetime, wish: TokenParams = WISH) -> MadeToken:
    return token_make(user.username, wish, user=user, now=now)


def opens(secret: str, now: datetime) -> bool:
    return token_of(secret, address="10.0.0.1", now=now) is not None


def state(token: ApiToken, now: datetime) -> str:
    return str(tokens_at(now).get(pk=token.pk).state)


def service_account(name: str = "etl_user") -> User:
    OwnerMapping.objects.create(
        lake=LAKE, owner=name, username="olga", added_by="ada", added_at="2026-01-01T00:00Z"
    )
    return person_create(name, password="correct horse staple", email="etl@example.org")


def test_a_token_opens_until_its_last_day(people: People, now: datetime) -> None:
    token, secret = made(people.owner, now)
    last = now + 90 * DAY
    assert opens(secret, now)
    assert opens(secret, last - timedelta(seconds=1))
    assert state(token, last) == "EXPIRED"
    assert not opens(secret, last)
    assert not opens(secret + "x", now)
    assert not opens(secret[:-1], now)
    assert not opens(digest_of(secret), now), "what is kept opens nothing"


def test_a_token_is_ended_once_and_for_good(people: People, now: datetime) -> None:
    token, secret = made(people.owner, now)
    token_end(token.public_id, user=people.owner, now=now + DAY)
    ended = token_end(token.public_id, user=people.operator, now=now + 2 * DAY)
    assert (ended.ended_by, ended.ended_at) == ("olga", now + DAY)
    assert not opens(secret, now + DAY)
    assert state(token, now) == "ENDED"
    actions = AuditEvent.objects.filter(object_id="olga").order_by("seq")
    assert [(one.action, one.actor, one.data["name"]) for one in actions] == [
        ("token.made", "olga", "nightly load"),
        ("token.ended", "olga", "nightly load"),
    ]
    assert audit_verify().problem == ""


def test_who_leaves_has_no_tokens_and_gets_none_back(people: People, now: datetime) -> None:
    token, secret = made(people.owner, now)
    _, others = made(people.stranger, now)
    person_close("olga", user=people.admin, reason="left", now=now)
    assert not opens(secret, now)
    assert opens(others, now)
    assert ApiToken.objects.get(pk=token.pk).ended_by == "ada"
    person_reopen("olga", user=people.admin, reason="back", now=now)
    assert not opens(secret, now)
    people.stranger.is_active = False
    people.stranger.save()
    assert not opens(others, now), "whoever closed the account, and however"
    assert tokens_at(now).get(owner=people.stranger).state == "LEFT"


def test_who_left_by_the_directory_alone_has_no_token_that_opens(
    people: People, now: datetime
) -> None:
    _, secret = made(people.owner, now)
    Deactivation.objects.create(username="olga", at=now, by="directory", reason="gone")
    assert not opens(secret, now)
    with pytest.raises(RuleViolation) as refused:
        made(people.owner, now)
    assert refused.value.code == "token.owner_left"


def test_tokens_are_made_for_oneself_and_by_admins_for_service_accounts(
    people: People, now: datetime
) -> None:
    service_account()
    for user in (people.owner, people.operator):
        with pytest.raises(NotAllowed):
            token_make("etl_user", WISH, user=user, now=now)
    token, secret = token_make("etl_user", WISH, user=people.admin, now=now)
    assert opens(secret, now)
    assert (token.owner.username, token.made_by) == ("etl_user", "ada")
    event = AuditEvent.objects.get(action="token.made")
    assert (event.object_id, event.actor, event.lake) == ("etl_user", "ada", LAKE)


def test_no_admin_acts_as_another_person(people: People, now: datetime) -> None:
    with pytest.raises(RuleViolation) as refused:
        token_make("ben", WISH, user=people.admin, now=now)
    assert refused.value.code == "token.service"
    account = service_account("ci_user")
    account.last_login = now
    account.save()
    with pytest.raises(RuleViolation, match="somebody has signed in"):
        token_make("ci_user", WISH, user=people.admin, now=now)
    with pytest.raises(RuleViolation):
        token_make("nobody", WISH, user=people.admin, now=now)
    assert not ApiToken.objects.exists()


def test_whoever_has_the_host_makes_one_for_anybody_here(people: People, now: datetime) -> None:
    token, secret = token_make_on_host("olga", WISH, now=now)
    assert opens(secret, now)
    assert token.made_by == "manage.py"
    for name in ("nobody", "OLGA"):
        with pytest.raises(RuleViolation):
            token_make_on_host(name, WISH, now=now)


def test_a_person_sees_and_ends_their_own_and_keepers_all(people: People, now: datetime) -> None:
    token, secret = made(people.owner, now)
    made(people.admin, now)
    assert [row.name for row in tokens_for_user(people.owner, now=now)] == ["nightly load"]
    assert tokens_for_user(people.stranger, now=now).count() == 0
    assert tokens_for_user(people.operator, now=now).count() == 2
    with pytest.raises(NotVisible):
        token_end(token.public_id, user=people.stranger, now=now)
    assert opens(secret, now)
    token_end(token.public_id, user=people.operator, now=now)
    assert not opens(secret, now)


def test_so_many_tokens_and_no_more(people: People, now: datetime) -> None:
    tokens = [made(people.owner, now).token for _ in range(MOST_LIVE)]
    with pytest.raises(RuleViolation) as refused:
        made(people.owner, now)
    assert refused.value.code == "token.many"
    token_end(tokens[0].public_id, user=people.owner, now=now)
    assert made(people.owner, now)
    assert made(people.owner, now + 91 * DAY), "expired ones do not count"


def test_uses_are_noted_once_a_minute(people: People, now: datetime) -> None:
    token, secret = made(people.owner, now)
    later = now + timedelta(seconds=59)
    for moment in (now, later):
        assert opens(secret, moment)
        assert ApiToken.objects.get(pk=token.pk).last_used_at == now
    assert opens(secret, now + timedelta(seconds=60))
    assert ApiToken.objects.get(pk=token.pk).last_used_at == now + timedelta(seconds=60)


def everything_kept() -> str:
    """Return every row of every table as text."""
    text = StringIO()
    call_command("dumpdata", stdout=text)
    return text.getvalue()


def test_the_secret_is_kept_nowhere_and_not_logged(
    people: People, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        token, secret = made(people.owner, now)
        opens(secret, now)
        token_end(token.public_id, user=people.owner, now=now)
        opens(secret, now)
        opens(f"{secret}x", now)
    kept = everything_kept()
    assert str(token.public_id) in kept
    assert digest_of(secret) in kept
    assert secret not in kept
    assert secret[3:] not in kept
    assert secret[3:] not in caplog.text
    assert f"{token.public_id} of olga is ENDED" in caplog.text
    assert "it is none of ours" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_two_use_and_two_end_one_token_at_once(people: People, now: datetime) -> None:
    token, secret = made(people.owner, now)
    assert together(*[lambda: opens(secret, now)] * 4) == [""] * 4
    assert ApiToken.objects.get(pk=token.pk).last_used_at == now
    ends = [lambda: token_end(token.public_id, user=people.owner, now=now)] * 2
    closes = [lambda: person_close("olga", user=people.admin, reason="left", now=now)]
    assert together(*ends, *closes) == [""] * 3
    assert AuditEvent.objects.filter(action="token.ended").count() == 1
    assert audit_verify().problem == ""


@pytest.mark.django_db(transaction=True)
def test_no_token_is_made_while_its_account_closes(people: People, now: datetime) -> None:
    secrets: list[str] = []
    results = together(
        lambda: secrets.append(made(people.owner, now).secret),
        lambda: person_close("olga", user=people.admin, reason="left", now=now),
    )
    assert results in (["", ""], ["token.owner_left", ""])
    assert not any(opens(secret, now) for secret in secrets)
