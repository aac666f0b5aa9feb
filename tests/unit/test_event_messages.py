"""Hive's notification messages, plain and packed, odd values included."""

import base64
import gzip
import json
from types import SimpleNamespace

import pytest

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
        (base64.b64encode(gzip.compress(b"{}")[:-9]).decode(), "gzip(json-2.0)"),
    ],
)
def test_what_cannot_be_read_is_said(message: str, message_format: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        read_event("main", raw(message, message_format))
    assert caught.value.code == "event.unreadable"


def test_a_note_of_the_guard_names_its_table_inside() -> None:
    note = raw('{"db": "sales", "table": "orders", "user": "eve"}')
    note.eventType, note.dbName, note.tableName = "LAKEWARDEN_DROP", None, None
    event = read_event("main", note)
    assert (event.db, event.table, event.is_note) == ("sales", "orders", True)
    assert event.message["user"] == "eve"
    assert not read_event("main", raw(MESSAGE)).is_note
