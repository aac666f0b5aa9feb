"""Tests that pages, lists, CSV and API of one lake say nothing of another with the same names."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.http.response import HttpResponseBase
from django.urls import get_resolver

from portal.ui.frame.lakes import object_lakes_of
from tests.component.lifecycle.plan_world import LAKE
from tests.component.whole.test_closed_by_default import pages
from tests.security.grid import GRID
from tests.security.second_lake import OTHER, TwoLakes, add_second_lake
from tests.security.target import Target
from tests.security.test_access_grid import address

pytestmark = pytest.mark.django_db(transaction=True)
SHOWN = re.compile(r'<span class="visually-hidden">Lake </span><strong>([^<]*)</strong>')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*">(<input type="hidden" name="lake")?')
# Values of addresses that name no object with a lake of its own: names within the lake of `lake`,
# people and their tokens, clusters that several lakes may share, signed words.
WITHOUT_LAKE = {
    *("db", "table", "day", "key", "part", "scope", "digest", "rule", "catalog", "lake"),
    *("kind", "proposal_id", "username", "token_id", "token", "secret"),
}
NO_LAKE_OF_ITS_OWN = ("refresh:cluster", "refresh-api:cluster")


@pytest.fixture
def two(target: Target, tmp_path: Path) -> TwoLakes:
    return add_second_lake(tmp_path)


def text_of(answer: HttpResponseBase) -> str:
    body: Any = answer
    raw = b"".join(body) if answer.streaming else body.content
    return bytes(raw).decode(errors="replace")


def with_query(path: str, query: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}{query}"


def test_every_object_in_an_address_has_a_way_to_its_lake() -> None:
    missing = []
    for name, pattern in pages(get_resolver()):
        values = dict.fromkeys(pattern.pattern.converters.keys() - WITHOUT_LAKE)
        if values and not name.startswith(NO_LAKE_OF_ITS_OWN) and not object_lakes_of(name, values):
            missing.append(name)
    assert missing == []


def test_the_page_of_an_object_stands_in_its_own_lake(target: Target, two: TwoLakes) -> None:
    """`archive` is the first lake by name: whatever falls back to the first one shows it."""
    client, wrong, n_seen = target.client("admin"), [], 0
    for name, row in GRID.items():
        values = dict.fromkeys(value.partition(":")[0] for value in row.values)
        if not (row.is_get and "admin" in row.reads and object_lakes_of(name, values)):
            continue
        path = address(name, target)
        for asked in (path, with_query(path, f"lake={OTHER}")):
            answer = client.get(asked)
            text = text_of(answer)
            shown = SHOWN.search(text)
            if answer.status_code == 200 and shown and shown[1] != LAKE:
                wrong.append(f"{asked}: below the lake {shown[1]}")
            elif answer.status_code >= 400:
                wrong.append(f"{asked}: {answer.status_code}")
            elif found := two.strays(text, lake=LAKE):
                wrong.append(f"{asked}: {found}")
            n_seen += shown is not None
    assert wrong == []
    assert n_seen > 40


@pytest.mark.parametrize("form", ["", "&format=csv"])
@pytest.mark.parametrize("lake", [LAKE, OTHER])
def test_a_list_of_one_lake_says_nothing_of_the_other(
    target: Target, two: TwoLakes, lake: str, form: str
) -> None:
    client, wrong, n_seen = target.client("admin"), [], 0
    for name, row in GRID.items():
        if not row.is_get or "admin" not in row.reads or row.values:
            continue
        path = with_query(address(name, target), f"lake={lake}{form}")
        answer = client.get(path)
        text = text_of(answer)
        shown = SHOWN.search(text)
        if shown and shown[1] != lake:
            wrong.append(f"{path}: below the lake {shown[1]}")
        if found := two.strays(text, lake=lake):
            wrong.append(f"{path}: {found}")
        n_seen += answer.status_code == 200
    assert wrong == []
    assert n_seen > 70


def test_a_page_without_a_lake_shows_the_one_that_was_looked_at_last(
    target: Target, two: TwoLakes
) -> None:
    client = target.client("admin")
    for lake in (LAKE, OTHER, LAKE):
        client.get(f"/tables/?lake={lake}")
        shown = SHOWN.search(text_of(client.get("/lifecycle/plans/")))
        assert shown is not None
        assert shown[1] == lake


def test_every_form_says_the_lake_that_its_page_shows(target: Target, two: TwoLakes) -> None:
    client, n_forms = target.client("admin"), 0
    for name, row in GRID.items():
        if not row.is_get or "admin" not in row.reads:
            continue
        answer = client.get(with_query(address(name, target), f"lake={LAKE}"))
        text = text_of(answer)
        if not SHOWN.search(text):
            continue
        tokens = list(TOKEN.finditer(text))
        silent = [text[one.start() - 300 : one.end()] for one in tokens if not one[1]]
        assert silent == [], name
        n_forms += len(tokens)
    assert n_forms > 300


def test_what_changes_something_and_a_program_have_to_say_which_lake(
    target: Target, two: TwoLakes
) -> None:
    client = target.client("admin")
    for answer in (
        client.get("/api/v1/runs/"),
        client.post("/lifecycle/scan/"),
        client.post("/red-button/", {"do": "press"}),
    ):
        assert answer.status_code == 400
        assert "Several lakes are governed here (archive, main)" in text_of(answer)
    assert client.get(f"/api/v1/runs/?lake={LAKE}").status_code == 200


def test_a_lake_that_is_none_is_not_found(target: Target, two: TwoLakes) -> None:
    client = target.client("admin")
    for path in ("/tables/?lake=mainn", "/api/v1/runs/?lake=mainn"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "lake.unknown" in text_of(answer)


def test_a_refusal_does_not_tell_the_lake_of_what_it_refuses(target: Target, two: TwoLakes) -> None:
    answer = target.client("stranger").get(address("lifecycle:plan", target))
    shown = SHOWN.search(text_of(answer))
    assert answer.status_code == 404
    assert shown is not None
    assert shown[1] == OTHER
