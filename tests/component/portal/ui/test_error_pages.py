"""Refusals that no view of ours makes are answered in words too: the method, the size, the form."""

from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client, RequestFactory

from portal.access.models import User
from portal.lake.errors import Busy
from portal.ui.frame.errors import as_json, server_error
from tests.component.conftest import People

pytestmark = pytest.mark.usefixtures("lake")


def signed_in(user: User, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(user)
    return client


def test_the_address_of_a_button_that_is_opened_says_so(people: People) -> None:
    answer = signed_in(people.admin).get("/theme/")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    page = answer.content.decode()
    assert "Nothing is shown at this address" in page
    assert "The address takes POST, not GET. It belongs to a button or a form" in page
    assert "page.method" in page
    refused = signed_in(people.admin).post("/health/")
    assert "The address takes GET, not POST." in refused.content.decode()
    api = signed_in(people.admin).delete("/api/v1/health/")
    assert (api.status_code, api.json()["code"]) == (405, "api.405")


def test_a_request_that_is_too_large_is_told_from_one_that_cannot_be_read(
    people: People, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    body = {f"n{n}": "1" for n in range(9)}
    answer = signed_in(people.admin).post("/profile/mails/", body)
    assert answer.status_code == 413
    page = answer.content.decode()
    assert "Too much at once" in page
    assert "page.too_much" in page


def test_a_form_without_its_token_says_what_to_do(people: People) -> None:
    answer = signed_in(people.admin, enforce_csrf_checks=True).post("/profile/mails/", {})
    assert answer.status_code == 403
    page = answer.content.decode()
    assert "The form was not taken" in page
    assert "Open the page with the form again" in page
    assert "Ask somebody with the right" not in page


def test_a_request_from_another_site_is_refused_on_a_page_and_in_json(people: People) -> None:
    client, foreign = signed_in(people.admin), {"Sec-Fetch-Site": "cross-site"}
    page = client.post("/profile/mails/", {}, headers=foreign)
    assert page.status_code == 403
    assert "came from another site, so nothing was done" in page.content.decode()
    api = client.post("/api/v1/saved-views/", {}, headers=foreign)
    assert (api.status_code, api.json()["code"]) == (403, "page.forbidden")


def test_a_mistake_of_ours_is_answered_without_the_frame_in_the_persons_theme() -> None:
    request: HttpRequest = RequestFactory().get("/tables/")
    request.COOKIES["lw_theme"] = "dark"
    answer = server_error(request)
    assert answer.status_code == 500
    page = answer.content.decode()
    assert 'data-bs-theme="dark"' in page
    assert "portal.bug" in page
    request.COOKIES["lw_theme"] = '"><script>'
    assert 'data-lw-theme="auto"' in server_error(request).content.decode()


def test_busy_says_for_how_long() -> None:
    busy = Busy("export.busy", "Two exports of yours are running already.", after_seconds=30)
    assert as_json(busy)["next_step"] == "Nothing was done. Ask the same again in 30 seconds."


def test_a_wrong_method_with_a_body_that_is_no_json_is_refused(people: People) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(people.admin)
    for address in ("/api/explorer/", "/api/", "/api/v1/schema/"):
        answer = client.post(address, "{", content_type="application/json")
        assert answer.status_code == 405, address
