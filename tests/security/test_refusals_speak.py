"""Tests refusals at another person's address: each explains itself and gives the next step.

Who is refused what is `test_access_grid`; here it is only how it is said, on pages and in the API.
"""

import re

import pytest
from django.http.response import HttpResponseBase

from tests.security.conftest import PEOPLE, Target
from tests.security.grid import GRID
from tests.security.test_access_grid import address, send

pytestmark = pytest.mark.django_db(transaction=True)
HEADINGS = {
    400: "That cannot be done as asked",
    403: "You may not do this",
    404: "Not found",
    409: "Somebody was first",
}


def wrong_words(path: str, answer: HttpResponseBase) -> str:
    """Say what is missing in a refusal; empty when it speaks."""
    status = answer.status_code
    text = answer.content.decode()  # type: ignore[attr-defined]  # no refusal is streamed
    if "Traceback" in text or "Error(" in text or "/site-packages/" in text:
        return "shows its inside"
    if path.startswith("/api/"):
        data = answer.json()  # type: ignore[attr-defined]  # the test client adds it
        return "" if all(data.get(k) for k in ("code", "message", "next_step")) else str(data)
    heading = f"<h1>{HEADINGS[status]}</h1>"
    has_code = re.search(r"<dt>Code</dt><dd><code>[a-z_]+\.[a-z_]+</code></dd>", text)
    has_message = re.search(r'<p class="lw-error-message">[A-Z][^<]{12,}\.</p>', text)
    return "" if heading in text and has_code and has_message else text[-800:]


def test_somebody_elses_address_is_refused_in_words(target: Target) -> None:
    wrong = []
    for name, row in GRID.items():
        for who in ("stranger", "owner", "operator"):
            if not row.is_get or who in row.reads:
                continue
            path = address(name, target)
            answer = target.client(who).get(path)
            if why := wrong_words(path, answer):
                wrong.append(f"GET {path} as {who}: {answer.status_code} {why}")
    assert not wrong, "\n".join(wrong)


def test_somebody_elses_deed_is_refused_in_words(target: Target) -> None:
    wrong, seen = [], set()
    for name, row in GRID.items():
        for who in sorted(PEOPLE.keys() - row.changes - {"nobody"}):
            answer = send(name, who, target, row.body)
            if answer.status_code == 405:
                continue
            seen.add(answer.status_code)
            if why := wrong_words(address(name, target), answer):
                wrong.append(f"POST {name} as {who}: {answer.status_code} {why}")
    assert not wrong, "\n".join(wrong)
    assert {403, 404} <= seen


def test_an_address_of_nothing_says_so_on_pages_and_in_the_api(target: Target) -> None:
    client = target.client("admin")
    for path in ("/no/such/page/", "/api/v1/no/such/thing/", "/lifecycle/plans/not-an-id/"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert wrong_words(path, answer) == ""
