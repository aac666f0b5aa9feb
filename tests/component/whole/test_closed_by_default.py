"""Tests that a stranger reads no page of the site, unless it stands in a written list."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, path, reverse

# Who is not signed in reads these: the doors themselves, and what watches the process.
OPEN = {
    "ui:login",
    "ui:logout",
    "ui:sign-in-begin",
    "ui:sign-in-back",
    "ui:sign-in-out",
    "ui:theme",  # the log-in page has the switch too
    "ui:livez",
    "ui:readyz",
    "ui:metrics",  # a program on this host, or a token's; the view asks
    "ui:mail-one-click",  # mail programs (RFC 8058); the signed word in the address says who
    "lifecycle:calendar-feed",  # calendar programs; the secret in the address says who
}
VALUES = {
    "uuid": "00000000-0000-4000-8000-000000000000",
    "int": 1,
    "str": "word",
    "slug": "word",
    "path": "word",
}

pytestmark = pytest.mark.django_db


def unguarded(request: HttpRequest) -> HttpResponse:
    """A view whose author thought of nobody who is not signed in."""
    return HttpResponse("secret")


urlpatterns = [path("page/", unguarded, name="page")]


def pages(resolver: URLResolver, namespace: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace
            yield from pages(pattern, inner)
        elif isinstance(pattern, URLPattern):
            yield f"{namespace}{pattern.name}", pattern


def address(name: str, pattern: URLPattern) -> str:
    kinds = pattern.pattern.converters
    values = {
        key: VALUES.get(type(kind).__name__.removesuffix("Converter").lower(), "2026-11-21")
        for key, kind in kinds.items()
    }
    return reverse(name, kwargs=values)


def refusal(name: str, client: Client, method: str, where: str) -> str:
    answer = getattr(client, method)(where)
    if where.startswith("/api/v1/") or name.partition(":")[0].endswith("-hook"):
        # A page's form or a link there never leads on: programs are told so.
        is_refused = answer.status_code in (401, 403)
    else:
        is_refused = answer.status_code == 302 and answer["Location"].startswith("/login/?next=")
    return "" if is_refused else f"{method} {where}: {answer.status_code}"


def test_every_page_asks_a_stranger_to_sign_in_but_for_a_written_list() -> None:
    client, found = Client(raise_request_exception=False), dict(pages(get_resolver()))
    closed = {name: pattern for name, pattern in found.items() if name not in OPEN}
    answers = [
        refusal(name, client, method, address(name, pattern))
        for name, pattern in closed.items()
        for method in ("get", "post")
    ]
    assert not [answer for answer in answers if answer]
    assert len(closed) > 300
    assert found.keys() >= OPEN


@pytest.mark.urls(__name__)
def test_a_view_without_any_mark_is_closed(settings: Any) -> None:
    settings.LOGIN_URL = "/login/"
    answer = Client().get("/page/")
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=/page/")
