"""Renders upcoming expirations and purges as an iCalendar file (RFC 5545).

Only whole days: the lake knows no hours of expiry. Equal events give equal bytes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

LINE_BYTES = 75
_ESCAPES = str.maketrans({"\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})


@dataclass(frozen=True, slots=True)
class Event:
    """Something that may happen from one day to another, both included; `uid` stays over days."""

    uid: str
    first: date
    last: date
    summary: str
    description: str = ""
    url: str = ""


def render_calendar(events: Iterable[Event], *, name: str, stamp: datetime) -> str:
    """Return the file's text, its lines folded and ended as the standard asks."""
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Lakewarden//Lifecycle//EN",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
        f"X-WR-CALNAME:{escape_text(name)}",
    ]
    for event in events:
        lines += _event(event, stamp=stamp)
    lines.append("END:VCALENDAR")
    return "".join(f"{fold(line)}\r\n" for line in lines)


def escape_text(text: str) -> str:
    """Write a text value: separators escaped, line breaks marked, other control signs dropped."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    seen = "".join(sign for sign in plain if sign == "\n" or not _is_control(sign))
    return seen.translate(_ESCAPES)


def fold(line: str) -> str:
    """Break a line so that none is longer than 75 bytes, never inside a character."""
    parts, part, size = [], "", 0
    for sign in line:
        width = len(sign.encode())
        if size + width > LINE_BYTES:
            parts.append(part)
            part, size = " ", 1
        part, size = part + sign, size + width
    return "\r\n".join([*parts, part])


def _event(event: Event, *, stamp: datetime) -> Iterator[str]:
    yield "BEGIN:VEVENT"
    yield f"UID:{escape_text(event.uid)}"
    yield f"DTSTAMP:{stamp.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    yield f"DTSTART;VALUE=DATE:{event.first:%Y%m%d}"
    yield f"DTEND;VALUE=DATE:{event.last + timedelta(days=1):%Y%m%d}"
    yield f"SUMMARY:{escape_text(event.summary)}"
    if event.description:
        yield f"DESCRIPTION:{escape_text(event.description)}"
    if event.url:
        yield f"URL:{event.url}"
    yield "TRANSP:TRANSPARENT"
    yield "END:VEVENT"


def _is_control(sign: str) -> bool:
    return ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 or 0xD800 <= ord(sign) < 0xE000
