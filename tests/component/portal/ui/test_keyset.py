"""Tests keyset pages: every row once, in order, both ways, with ties and NULLs."""

import base64
import contextlib
import random
from datetime import timedelta

import pytest

from portal.lake.errors import RuleViolation
from portal.runs.models import Run
from portal.ui.lists.keyset import SIZE_CAP, KeysetPage, keyset_page
from tests.component.conftest import LAKE, NOW

ORDERS = {"-queued": ("-queued_at",), "ended": ("finished_at", "-queued_at")}


@pytest.fixture
def rows(db: None) -> None:
    # Three rows share each instant, and every fourth has no end: ties and NULLs.
    for place in range(23):
        Run.objects.create(
            lake=LAKE,
            kind="k",
            requested_by="ada",
            queued_at=NOW + timedelta(minutes=place // 3),
            finished_at=None if place % 4 == 0 else NOW + timedelta(hours=place // 5),
        )


def page(**params: str) -> KeysetPage[Run]:
    return keyset_page(Run.objects.all(), params, orders=ORDERS)


def walk(sort: str, size: str) -> list[list[Run]]:
    pages = [page(sort=sort, size=size)]
    while pages[-1].has_next:
        pages.append(page(sort=sort, size=size, after=pages[-1].next_cursor))
    return [found.rows for found in pages]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("sort", ["-queued", "ended"])
@pytest.mark.parametrize("size", ["1", "4", "23", "50"])
def test_walking_forward_shows_every_row_once_in_order(sort: str, size: str) -> None:
    shown = [run.pk for rows in walk(sort, size) for run in rows]
    fields = [*ORDERS[sort], "-pk"]
    assert shown == list(Run.objects.order_by(*fields).values_list("pk", flat=True))


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("sort", ["-queued", "ended"])
def test_walking_back_shows_the_same_pages(sort: str) -> None:
    forward = [page(sort=sort, size="5")]
    while forward[-1].has_next:
        forward.append(page(sort=sort, size="5", after=forward[-1].next_cursor))
    back = page(sort=sort, size="5", before=forward[-1].previous_cursor)
    assert back.rows == forward[-2].rows
    assert back.has_next
    first = page(sort=sort, size="5", before=forward[1].previous_cursor)
    assert first.rows == forward[0].rows
    assert not first.has_previous


@pytest.mark.usefixtures("rows")
def test_a_row_added_before_the_place_does_not_shift_the_next_page() -> None:
    first = page(size="5")
    expected = page(size="5", after=first.next_cursor).rows
    Run.objects.create(lake=LAKE, kind="k", requested_by="x", queued_at=NOW + timedelta(days=9))
    assert page(size="5", after=first.next_cursor).rows == expected


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    "cursor",
    ["x", "!!!", "bnVsbA", "WzFd", "WyIyMDI2IiwiYSJd", "W3t9LHt9XQ", "é", "W1sxXSwyXQ", "WzEsMl0"],
)
def test_a_broken_cursor_is_refused_with_a_message(cursor: str) -> None:
    for side in ("after", "before"):
        with pytest.raises(RuleViolation) as caught:
            page(**{side: cursor})
        assert caught.value.code == "page.cursor"


def cursor_of(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")


BROKEN = {
    "nested": "[" * 1_500,
    "deeper than any parser": "[" * 200_000,
    "infinite": "[Infinity,Infinity]",
    "not a number": "[NaN,NaN]",
    "before the first day": '["0001-01-01T00:00:00+14:00",1]',
    "after the last day": '["9999-12-31T23:59:59-14:00",1]',
    "2,400 digits": f'["2026-01-01T00:00:00Z",{"9" * 2_400}]',
    "9,000 digits": f'["2026-01-01T00:00:00Z",{"9" * 9_000}]',
    "a huge float": '["2026-01-01T00:00:00Z",1e400]',
    "half a character": '["2026-01-01T00:00:00Z","\\ud800"]',
    "a NUL": '["2026-01-01T00:00:00Z","\\u0000"]',
    "truth": "[true,false]",
}


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_cursor_of_any_content_is_refused_with_a_message(text: str) -> None:
    for side in ("after", "before"):
        for sort in ORDERS:
            with pytest.raises(RuleViolation) as caught:
                page(**{side: cursor_of(text), "sort": sort})
            assert caught.value.code == "page.cursor"


@pytest.mark.usefixtures("rows")
def test_random_cursors_give_a_page_or_the_message() -> None:
    chance = random.Random(15)
    parts = [
        "null",
        "1",
        "-1e9",
        '"x"',
        '"2026-01-01T00:00:00+01:00"',
        '"9999-12-31T23:59:59Z"',
        "9" * 40,
        "{}",
    ]
    for _ in range(400):
        text = f"[{','.join(chance.choices(parts, k=chance.randint(0, 4)))}]"
        cut = chance.choice([text, text[: chance.randint(0, len(text))]])
        with contextlib.suppress(RuleViolation):
            page(after=cursor_of(cut), sort=chance.choice(list(ORDERS)))


@pytest.mark.usefixtures("rows")
def test_size_and_sort_fall_back_and_are_capped() -> None:
    assert page(size="100000").size == SIZE_CAP
    assert page(size="-3").size == 1
    assert page(size="many", sort="password").sort == "-queued"


@pytest.mark.django_db
def test_no_rows_give_an_empty_page() -> None:
    empty = page()
    assert (empty.rows, empty.has_next, empty.has_previous) == ([], False, False)
