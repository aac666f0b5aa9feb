"""Parses the guard's records of metastore changes, and the change events themselves.

Pure readers of the log's messages. A note names who did it; Hive's own ALTER messages hold the
object before and after, by which a change that the guard did not see is found all the same.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from portal.lake.errors import RuleViolation
from portal.lake.thrift_json import map_in

_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_KEYS = frozenset({"level", "ttl"})
_MAY_HOLD_ONE = re.compile(r'"(?:level|ttl)"', re.IGNORECASE)
# Where Thrift's JSON keeps the parameters and the owner: by the field's number.
_PLACES = {"table": ("tableObj", "9", "3"), "db": ("dbObj", "4", "6")}


class Outcome(StrEnum):
    """What became of a change of LEVEL or TTL, or of a breach of another rule of the guard."""

    CHANGED = "CHANGED"
    WOULD_REFUSE = "WOULD_REFUSE"
    WARNED = "WARNED"
    REFUSED = "REFUSED"
    UNSEEN = "UNSEEN"
    REPLACED = "REPLACED"


# What happened although no lifecycle admin wanted it, as far as anybody knows.
ALARMING = frozenset({Outcome.WOULD_REFUSE, Outcome.UNSEEN, Outcome.REPLACED})


@dataclass(frozen=True, slots=True)
class Change:
    """LEVEL and TTL as they stood in the parameters before and after, and whose object it is."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that a change broke: its stable name and the guard's sentence."""

    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class PolicyNote:
    """What the guard wrote about one change; `change` is None where LEVEL and TTL stayed."""

    operation: str
    user: str
    is_admin: bool
    outcome: Outcome
    owner: str
    rules: tuple[Rule, ...]
    change: Change | None
    new_name: str = ""


def read_policy_note(message: Mapping[str, Any]) -> PolicyNote:
    """Read a LAKEWARDEN_POLICY message.

    Raises:
        RuleViolation: `guard.note`; another release of the guard writes notes, or somebody else.
    """
    try:
        change = None
        if "before" in message:
            change = Change(_values(message["before"]), _values(message["after"]))
        return PolicyNote(
            operation=str(message["operation"]),
            user=in_one_line(message["user"], most=150),
            is_admin=bool(message["admin"]),
            outcome=Outcome(str(message["outcome"]).upper()),
            owner=str(message["owner"] or ""),
            rules=tuple(
                Rule(str(one["rule"]), in_one_line(one["text"], most=1000))
                for one in message["rules"]
            ),
            change=change,
            new_name=str(message.get("new_name") or ""),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RuleViolation("guard.note", f"The guard's note cannot be read: {error!r}.") from error


def change_in(message: Mapping[str, Any], *, of: str) -> Change | None:
    """Return the change of LEVEL or TTL in Hive's own ALTER message of a `table` or `db`, if any.

    Raises:
        RuleViolation: `guard.alter`; the objects in the message have another form.
    """
    prefix, parameters, owner = _PLACES[of]
    texts = (str(message.get(f"{prefix}{when}Json") or "") for when in ("Before", "After"))
    before_text, after_text = texts
    if not (_MAY_HOLD_ONE.search(before_text) or _MAY_HOLD_ONE.search(after_text)):
        return None
    try:
        before, after = json.loads(before_text), json.loads(after_text)
        old, new = _own(before, parameters), _own(after, parameters)
        named = str(before.get(owner, {}).get("str", ""))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise RuleViolation(
            "guard.alter", f"The objects of an ALTER message cannot be read: {error!r}."
        ) from error
    return None if old == new else Change(old, new, named)


def values_in(text: str) -> dict[str, str]:
    """Return LEVEL and TTL, as they stand, of a table's Thrift object in JSON.

    Raises:
        RuleViolation: `guard.alter`; it has another form.
    """
    try:
        return _own(json.loads(text), "9") if _MAY_HOLD_ONE.search(text) else {}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise RuleViolation("guard.alter", f"A table cannot be read: {error!r}.") from error


def in_one_line(text: object, *, most: int) -> str:
    """Return a client's own words without line breaks, cut: they go into mails and lists."""
    return _CONTROL.sub(" ", str(text))[:most]


def _own(struct: Mapping[str, Any], field: str) -> dict[str, str]:
    parameters = map_in(struct, field)
    return _values({key: value for key, value in parameters.items() if key.lower() in _KEYS})


def _values(parameters: Mapping[str, str]) -> dict[str, str]:
    return {str(key): in_one_line(parameters[key], most=200) for key in sorted(parameters)}
