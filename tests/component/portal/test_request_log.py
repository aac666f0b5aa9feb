"""Tests that a request's lines name its id and person, and that its answer is counted."""

import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse
from django.utils import timezone

from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from portal.request_log import RequestLogMiddleware, person_of
from tests.component.conftest import People
from tests.component.portal.logs_captured import captured

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
LOGGER = "portal.request_log"


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_request_logs_its_id_and_its_person(people: People) -> None:
    client = client_of(people.owner)
    with captured() as log:
        answer = client.get(reverse("lifecycle:table", args=["sales", "none\u2028\n"]))
    (said,) = log.of(LOGGER)
    assert re.fullmatch(r"[0-9a-f]{32}", said["request"])
    assert said["request"] == answer["X-Request-ID"]
    assert (said["person"], said["method"], said["status"]) == ("olga", "GET", 404)
    assert said["ms"] > 0
    assert "sales" not in said["route"]
    others = [line for line in log.lines() if line["logger"] == "django.request"]
    assert [line["request"] for line in others] == [said["request"]]
    assert client.get("/livez")["X-Request-ID"] != said["request"]


def test_an_id_counts_only_where_a_proxy_of_ours_gives_it(settings: Any) -> None:
    told = "0123456789abcdef-proxy"
    for proxies, sent, is_taken in ((0, told, False), (1, told, True), (1, "a b", False)):
        settings.LAKEWARDEN_PROXIES = proxies
        answer = Client(headers={"X-Request-ID": sent}).get("/livez")
        assert (answer["X-Request-ID"] == sent) is is_taken, (proxies, sent)


def test_addresses_and_queries_are_not_in_the_lines() -> None:
    with captured() as log:
        Client().get("/callback/", {"code": "abcdefgh", "state": "s"})
        Client().get(reverse("ui:login"), {"next": "/secret-place/"})
    text = str(log.of(LOGGER))
    assert "abcdefgh" not in text
    assert "secret-place" not in text


def test_a_monitors_polls_are_no_lines() -> None:
    with captured() as log:
        for path in ("/livez", "/readyz", "/metrics"):
            assert Client().get(path).status_code == 200
    assert log.of(LOGGER) == []


def test_the_person_is_known_without_a_query_of_its_own(people: People) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        logging.getLogger("view").info("inside")
        return HttpResponse("x")

    request = HttpRequest()
    request.method = "GET"
    request.resolver_match = None
    request.user = people.admin
    with (
        captured() as log,
        CaptureQueriesContext(
            connection,
        ) as queries,
    ):
        RequestLogMiddleware(answer)(request)
    assert len(queries) == 0
    assert [line["person"] for line in log.lines()] == ["ada", "ada"]
    request.user = AnonymousUser()
    assert person_of(request) == ""


def test_a_program_is_named_by_its_tokens_owner(people: People) -> None:
    params = TokenParams("refresher", ("refresh",), 9)
    _, secret = token_make("olga", params, user=people.owner, now=timezone.now())
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    with captured() as log:
        answer = program.get("/api/refresh/wait", REMOTE_ADDR="10.0.0.9")
    assert answer.status_code < 500
    assert secret not in str(log.lines())
    assert log.of(LOGGER)[0]["person"] == "olga"


def test_addresses_that_open_without_a_log_in_are_hidden_everywhere() -> None:
    """Every such address of the site, as an error of the server would name it."""
    secret, n_found = "Abcdefgh_1234-5678", 0
    for pattern in patterns(get_resolver()):
        hidden = re.sub(r"<(?:str|slug):(?:token|secret)>", secret, pattern)
        if hidden != pattern:
            n_found += 1
            with captured() as log:
                logging.getLogger("django.request").error("Internal Server Error: /%s", hidden)
            assert secret not in log.lines()[0]["message"], pattern
    assert n_found == 4


def patterns(resolver: Any, before: str = "") -> Iterator[str]:
    """Yield every route of the site."""
    for one in resolver.url_patterns:
        route = before + str(one.pattern)
        if hasattr(one, "url_patterns"):
            yield from patterns(one, route)
        else:
            yield route


def test_answers_are_counted_by_area_and_class_of_status(people: People) -> None:
    def count(area: str, status: str) -> float:
        labels = f'{{area="{area}",status="{status}"}}'
        text = Client().get("/metrics").content.decode()
        name = "lakewarden_http_request_seconds_count"
        found = re.search(re.escape(f"{name}{labels}") + r" (\S+)", text)
        return float(found.group(1)) if found else 0.0

    client = client_of(people.owner)
    before = count("lifecycle", "4xx"), count("none", "4xx")
    client.get(reverse("lifecycle:table", args=["sales", "nothing"]))
    client.get("/no/such/address/")
    assert (count("lifecycle", "4xx"), count("none", "4xx")) == (before[0] + 1, before[1] + 1)
