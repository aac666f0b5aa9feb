"""Tests token scopes: no address admits a token unless it says so. All of them are tried."""

import pytest
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from portal.access.scopes import all_scopes
from portal.people.models import ApiToken
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from tests.security.grid import GRID
from tests.security.target import Target
from tests.security.test_access_grid import address, is_login

pytestmark = pytest.mark.django_db(transaction=True)


def scope_of(path: str) -> str:
    """Return the scope that an address names; empty for pages and for what people alone may do."""
    view = resolve(path.split("?", 1)[0]).func
    return str(getattr(getattr(view, "cls", None), "token_scope", ""))


def test_a_token_of_every_scope_opens_nothing_that_names_none(target: Target) -> None:
    known = {scope.name for scope in all_scopes()}
    admin = target.world.person("anna")
    wish = TokenParams("all that there is", tuple(known), 9)
    token, secret = token_make("anna", wish, user=admin, now=timezone.now())
    client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {secret}"})
    wrong, n_refused = [], 0
    for name, row in GRID.items():
        path = address(name, target)
        scope = scope_of(path)
        if scope:
            wrong += [] if scope in known else [f"{name}: no room registered {scope}"]
            continue
        for answer in (client.get(path), client.post(path)):
            is_open = "nobody" in row.reads | row.changes and "/api/" not in path
            is_refused = b"token.not_here" in getattr(answer, "content", b"")
            n_refused += is_refused
            if not (is_open or is_refused or is_login(answer) or answer.status_code == 405):
                wrong.append(f"{name}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)
    assert n_refused > 100
    token.refresh_from_db()
    assert token.last_used_at is None, "it was not even looked at"
    assert ApiToken.objects.filter(ended_at__isnull=False).count() == 0
