"""What the guard's notes and Hive's own ALTER messages say, broken and hostile ones included."""

import json
from typing import Any

import pytest

from lifecycle.guard.domain import (
    ALARMING,
    Change,
    Outcome,
    Rule,
    change_in,
    read_policy_note,
)
from portal.lake.errors import RuleViolation

NOTE: dict[str, Any] = {
    "before": {"LEVEL": "1", "TTL": "60"},
    "after": {},
    "operation": "ALTER_TABLE",
    "db": "sales",
    "table": "orders",
    "owner": "alice",
    "user": "eve",
    "admin": False,
    "outcome": "would_refuse",
    "rules": [{"rule": "policy.rights", "text": "Only an admin may."}],
}


def test_a_note_is_read() -> None:
    note = read_policy_note(NOTE)
    assert (note.user, note.is_admin, note.outcome) == ("eve", False, Outcome.WOULD_REFUSE)
    assert note.change == Change({"LEVEL": "1", "TTL": "60"}, {})
    assert note.rules == (Rule("policy.rights", "Only an admin may."),)
    assert note.outcome in ALARMING


def test_a_note_without_a_change_of_policy_has_none() -> None:
    plain = {key: value for key, value in NOTE.items() if key not in ("before", "after")}
    assert read_policy_note({**plain, "outcome": "warned", "new_name": None}).change is None


@pytest.mark.parametrize(
    "broken",
    [
        {"outcome": "burnt"},
        {"rules": [{"rule": "x"}]},
        {"rules": None},
        {"before": "LEVEL"},
        {"before": {}, "after": None},
    ],
)
def test_a_note_of_another_form_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(RuleViolation) as caught:
        read_policy_note({**NOTE, **broken})
    assert caught.value.code == "guard.note"


def test_what_a_client_called_itself_stays_one_short_line() -> None:
    note = read_policy_note(
        {**NOTE, "user": "eve\r\nBcc: all@example.org" + "x" * 500, "after": {"TTL": "a\nb" * 500}}
    )
    assert "\n" not in note.user
    assert len(note.user) == 150
    assert note.change is not None
    assert len(note.change.after["TTL"]) == 200
    assert "\n" not in note.change.after["TTL"]


def thrift(number: str, parameters: dict[str, str], owner: str = "3") -> str:
    return json.dumps(
        {
            owner: {"str": "alice"},
            number: {"map": ["str", "str", len(parameters), parameters]},
        }
    )


def altered(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    return {
        "tableObjBeforeJson": thrift("9", before),
        "tableObjAfterJson": thrift("9", after),
    }


@pytest.mark.parametrize(
    ("before", "after", "is_change"),
    [
        ({"TTL": "60"}, {"TTL": "61"}, True),
        ({"TTL": "60"}, {"ttl": "60"}, True),
        ({"TTL": "60"}, {}, True),
        ({}, {"Level": "0"}, True),
        ({"TTL": "60", "x": "1"}, {"TTL": "60", "x": "2"}, False),
        ({"note": "a TTL"}, {"note": "another TTL"}, False),
        ({"comment": '"TTL"'}, {"comment": "none"}, False),
        ({}, {}, False),
    ],
)
def test_a_change_is_seen_in_hives_own_message(
    before: dict[str, str], after: dict[str, str], *, is_change: bool
) -> None:
    change = change_in(altered(before, after), of="table")
    assert (change is not None) == is_change
    if change is not None:
        assert change.owner == "alice"


def test_a_change_of_a_database_is_seen() -> None:
    message = {
        "dbObjBeforeJson": thrift("4", {}, owner="6"),
        "dbObjAfterJson": thrift("4", {"TTL": "7"}, owner="6"),
    }
    assert change_in(message, of="db") == Change({}, {"TTL": "7"}, "alice")


def test_an_object_without_parameters_has_no_values() -> None:
    message = {"tableObjBeforeJson": "{}", "tableObjAfterJson": thrift("9", {"TTL": "1"})}
    assert change_in(message, of="table") == Change({}, {"TTL": "1"})


def test_a_message_of_another_form_is_refused() -> None:
    with pytest.raises(RuleViolation) as caught:
        change_in({"tableObjBeforeJson": '["TTL"]', "tableObjAfterJson": "{}"}, of="table")
    assert caught.value.code == "guard.alter"
