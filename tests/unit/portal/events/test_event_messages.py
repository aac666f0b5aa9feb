"""Hive's notification messages, plain and packed, odd values included."""

import base64
import contextlib
import gzip
import json
from types import SimpleNamespace

import pytest

from portal.events import messages
from portal.events.messages import read_event
from portal.lake.errors import RuleViolation


def raw(message: str, message_format: str = "json-0.2") -> SimpleNamespace:
    return SimpleNamespace(
        eventId=7,
        eventTime=1_795_339_800,
        eventType="DROP_PARTITION",
        dbName="sales",
        tableName="orders",
        messageFormat=message_format,
        message=message,
    )


MESSAGE = json.dumps(
    {
        "db": "sales",
        "table": "orders",
        "partitions": [
            {"dt": "2026-11-21", "city": "S=ão/x"},
            {"dt": "__HIVE_DEFAULT_PARTITION__", "city": "b"},
        ],
    }
)
NAMES = (
    "dt=2026-11-21/city=S%3Dão%2Fx",
    "dt=__HIVE_DEFAULT_PARTITION__/city=b",
)


def test_a_plain_message_is_read() -> None:
    event = read_event("main", raw(MESSAGE))
    assert (event.id, event.type, event.db, event.table) == (7, "DROP_PARTITION", "sales", "orders")
    assert event.partitions == NAMES
    assert event.at.isoformat() == "2026-11-22T09:30:00+00:00"


def test_a_packed_message_is_read() -> None:
    packed = base64.b64encode(gzip.compress(MESSAGE.encode())).decode()
    assert read_event("main", raw(packed, "gzip(json-2.0)")).partitions == NAMES


@pytest.mark.parametrize(
    ("message", "message_format"),
    [
        ("", "json-0.2"),
        ("[]", "json-0.2"),
        ("{", "json-0.2"),
        ('{"partitions": ["dt=1"]}', "json-0.2"),
        ('{"partitions": [{}]}', "json-0.2"),
        ('{"partitions": [{"dt": 5}]}', "json-0.2"),
        ('{"ptnObjJson": "{}"}', "json-0.2"),
        ('{"tableObjJson": "{}", "ptnObjJson": "{}"}', "json-0.2"),
        ('{"tableObjBeforeJson": "{}", "tableObjAfterJson": "{}"}', "json-0.2"),
        ("{}", "avro-1"),
        ("not base64!", "gzip(json-2.0)"),
        (base64.b64encode(b"not gzip").decode(), "gzip(json-2.0)"),
        (base64.b64encode(gzip.compress(b"{}", mtime=0)[:-9]).decode(), "gzip(json-2.0)"),
    ],
)
def test_what_cannot_be_read_is_said(message: str, message_format: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        read_event("main", raw(message, message_format))
    assert caught.value.code == "event.unreadable"


@pytest.mark.parametrize(
    "message",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "NaN",
        '{"partitions": [{"dt": "\\ud800"}]}',
        '{"partitions": [{"dt": NaN}]}',
        '{"partitions": {"dt": "1"}}',
        '{"partitions": [null]}',
        '{"ptnObjJson": "' + "[" * 50_000 + '"}',
        '{"tableObjBeforeJson": 7, "tableObjAfterJson": []}',
        '{"db": {"a": 1}, "table": [1], "partitions": 7}',
        '{"partitions": [{"' + "k" * 70_000 + '": "v"}]}',
        "9" * 5_000,
    ],
    ids=range(12),
)
def test_what_other_writers_say_is_read_or_refused_and_never_a_mistake(message: str) -> None:
    for packed in (False, True):
        text, form = message, "json-0.2"
        if packed:
            text, form = (
                base64.b64encode(gzip.compress(message.encode())).decode(),
                "gzip(json-2.0)",
            )
        with contextlib.suppress(RuleViolation):
            event = read_event("main", raw(text, form))
            assert all(isinstance(name, str) for name in event.partitions)


def test_a_packed_message_that_unpacks_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(messages, "MOST_UNPACKED", 1_000_000)
    for n_bytes, refused in ((999_000, False), (30_000_000, True)):
        text = '{"x": "' + "a" * n_bytes + '"}'
        packed = base64.b64encode(gzip.compress(text.encode())).decode()
        if refused:
            with pytest.raises(RuleViolation, match="unpacks to more than 1000000 bytes"):
                read_event("main", raw(packed, "gzip(json-2.0)"))
        else:
            assert read_event("main", raw(packed, "gzip(json-2.0)")).message["x"][0] == "a"


def test_a_note_of_the_guard_names_its_table_inside() -> None:
    note = raw('{"db": "sales", "table": "orders", "user": "eve"}')
    note.eventType, note.dbName, note.tableName = "LAKEWARDEN_DROP", None, None
    event = read_event("main", note)
    assert (event.db, event.table, event.is_note) == ("sales", "orders", True)
    assert event.message["user"] == "eve"
    assert not read_event("main", raw(MESSAGE)).is_note
