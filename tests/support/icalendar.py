"""A strict reader of iCalendar text, after RFC 5545 alone: it shares nothing with the writer."""

import re

_LINE = re.compile(r"(?P<name>[A-Z-]+)(?P<params>(;[A-Z-]+=[^;:]+)*):(?P<value>.*)", re.DOTALL)
_TEXTS = {"SUMMARY", "DESCRIPTION", "UID", "X-WR-CALNAME"}
_NEEDED = {"UID", "DTSTAMP", "DTSTART"}


def read_calendar(data: bytes) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the calendar's own properties and those of each event; anything odd is an error."""
    assert data.endswith(b"\r\n")
    raw = data[:-2].split(b"\r\n")
    assert all(len(line) <= 75 for line in raw), "a line is at most 75 octets"
    assert not any(set(line) & {10, 13} for line in raw), "a line ends with CR LF only"
    for octets in raw:
        octets.decode("utf-8")  # a fold stands between characters
    lines = data[:-2].decode("utf-8").replace("\r\n ", "").split("\r\n")
    assert lines[0] == "BEGIN:VCALENDAR"
    assert lines[-1] == "END:VCALENDAR"
    head: dict[str, str] = {}
    events: list[dict[str, str]] = []
    current = head
    for line in lines[1:-1]:
        match = _LINE.fullmatch(line)
        assert match, line
        name, value = match["name"], match["value"]
        if line == "BEGIN:VEVENT":
            assert current is head
            events.append(current := {})
        elif line == "END:VEVENT":
            assert current is not head
            assert current.keys() >= _NEEDED
            current = head
        else:
            assert name not in current, f"{name} twice"
            current[name] = _text(value) if name in _TEXTS else value
    assert current is head
    assert head["VERSION"] == "2.0"
    assert head["PRODID"]
    assert len({event["UID"] for event in events}) == len(events)
    return head, events


def _text(value: str) -> str:
    assert not re.search(r"(?<!\\)(?:\\\\)*[;,]", value), "an unescaped separator"
    assert re.fullmatch(r"(?:[^\\]|\\[\\;,nN])*", value, re.DOTALL), "an unknown escape"
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] in "nN" else m[1], value)
