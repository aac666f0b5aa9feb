"""The calendar file is RFC 5545, whatever tables and partitions are called."""

from datetime import UTC, date, datetime

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.notices.domain.calendar import Event, fold, render_calendar
from tests.support.icalendar import read_calendar

STAMP = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
DAY = date(2026, 11, 30)
TEXTS = st.text(max_size=200)


def shown(text: str) -> str:
    """Return what a reader must get back: line breaks as one sign, other control signs gone."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in plain if c == "\n" or not (ord(c) < 32 or 0x7F <= ord(c) < 0xA0))


def test_an_event_is_whole_days_and_says_where_to_look() -> None:
    event = Event("u1@x", DAY, date(2026, 12, 2), "sales.orders: 3 items due", "a; b", "http://x/y")
    text = render_calendar([event], name="Lakewarden main", stamp=STAMP)
    head, (found,) = read_calendar(text.encode())
    assert head["X-WR-CALNAME"] == "Lakewarden main"
    assert found == {
        "UID": "u1@x",
        "DTSTAMP": "20261120T090000Z",
        "DTSTART": "20261130",
        "DTEND": "20261203",
        "SUMMARY": "sales.orders: 3 items due",
        "DESCRIPTION": "a; b",
        "URL": "http://x/y",
        "TRANSP": "TRANSPARENT",
    }


def test_an_empty_calendar_is_one_too() -> None:
    assert read_calendar(render_calendar([], name="x", stamp=STAMP).encode())[1] == []


@given(texts=st.lists(st.tuples(TEXTS, TEXTS), max_size=3))
def test_any_name_comes_back_as_it_was_and_begins_no_line(texts: list[tuple[str, str]]) -> None:
    events = [Event(f"{n}@x", DAY, DAY, name, text) for n, (name, text) in enumerate(texts)]
    _, found = read_calendar(render_calendar(events, name="n", stamp=STAMP).encode())
    assert [one["SUMMARY"] for one in found] == [shown(name) for name, _ in texts]
    assert [one.get("DESCRIPTION", "") for one in found] == [shown(text) for _, text in texts]


@given(line=st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])))
def test_folding_loses_nothing_and_keeps_lines_short(line: str) -> None:
    folded = fold(line)
    assert folded.replace("\r\n ", "") == line
    assert all(len(part.encode()) <= 75 for part in folded.split("\r\n"))
