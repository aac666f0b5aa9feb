"""Reads and writes a policy's settings, in JSON and in forms, and refuses wrong values.

A field that is absent is inherited. `null` means "none" for blackout windows and budget, and
nothing else.
"""

import re
from collections.abc import Callable, Mapping
from datetime import time
from enum import StrEnum
from functools import partial
from typing import TypeVar

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.indexing.domain.wanted import WantedIndex, parse_all_wanted
from optimizer.iceberg.rewrite.domain.layouts import Layout, parse_layout
from optimizer.policies.domain.policy import (
    FIELDS,
    AdviceMode,
    BlackoutWindow,
    ConflictTolerance,
    Policy,
    QueryConstants,
)
from portal.lake.errors import RuleViolation

_HOURS = re.compile(r"\s*([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)\s*")
MOST_NUMBER = 10**12

Choice = TypeVar("Choice", bound=StrEnum)
Reader = Callable[[str, object], object]


def read_values(raw: Mapping[str, object]) -> dict[str, object]:
    """Read the settings of one level from JSON.

    Raises:
        RuleViolation: `policy.field` for a name that is no setting, `policy.value` for a value
            that is none, `layout.form` and `layout.columns` for a layout.
    """
    return read_settings(raw, _READERS)


def read_settings(raw: Mapping[str, object], readers: Mapping[str, Reader]) -> dict[str, object]:
    """Read settings of any kind of policy, each by its reader.

    Raises:
        RuleViolation: `policy.field` for a name that has none, and what the readers raise.
    """
    unknown = sorted(raw.keys() - readers.keys())
    if unknown:
        raise RuleViolation(
            "policy.field",
            f"There is no setting {', '.join(unknown)}. The settings are {', '.join(readers)}.",
            names=unknown,
        )
    return {name: readers[name](name, value) for name, value in raw.items()}


def write_values(values: Mapping[str, object]) -> dict[str, object]:
    """Return the JSON form of settings that were read; `read_values` gives them back."""
    return {name: _written(value) for name, value in values.items()}


def write_policy(policy: Policy) -> dict[str, object]:
    """Return every setting of a policy in its JSON form."""
    return write_values({name: getattr(policy, name) for name in FIELDS})


def _written(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(str(one) for one in value)
    if isinstance(value, tuple):
        return [str(one) for one in value]
    if isinstance(value, (Layout, BlackoutWindow, StrEnum)):
        return str(value)
    return value


def wrong_value(name: str, value: object, wanted: str) -> RuleViolation:
    """Return the error for a value that a setting cannot have, saying how one is written."""
    return RuleViolation(
        "policy.value", f"{name} cannot be {value!r}: write {wanted}.", policy_fields=[name]
    )


def read_flag(name: str, value: object) -> bool:
    """Read a setting that is on or off."""
    if not isinstance(value, bool):
        raise wrong_value(name, value, "true or false")
    return value


def read_number(name: str, value: object) -> int:
    """Read a setting that is a whole number; its bounds are the policy's own."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MOST_NUMBER:
        raise wrong_value(name, value, "a whole number")
    return value


def read_budget(name: str, value: object) -> float | None:
    """Read GB-hours a day, None for no limit."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong_value(name, value, "a number of GB-hours a day, or null for no limit")
    if not 0 <= value <= MOST_NUMBER:
        raise wrong_value(name, value, "a number of GB-hours that is not negative")
    return float(value)


def read_quiet(name: str, value: object) -> BlackoutWindow | None:
    """Read hours of the day, None for none."""
    if value is None or value == "":
        return None
    found = _HOURS.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise wrong_value(name, value, "hours of the day such as 22:00-06:00, or null for none")
    from_hour, from_minute, to_hour, to_minute = map(int, found.groups())
    return BlackoutWindow(time(from_hour, from_minute), time(to_hour, to_minute))


def _layout(name: str, value: object) -> Layout:
    if not isinstance(value, str):
        raise wrong_value(name, value, "hilbert(a,b), zorder(a,b), sort(a,b), or nothing")
    return parse_layout(value)


def _index_columns(name: str, value: object) -> tuple[WantedIndex, ...]:
    wanted = "a list of columns, each with a kind if it matters, such as [id:bloom, message]"
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise wrong_value(name, value, wanted)
    try:
        return parse_all_wanted(map(str, value))
    except RuleViolation as error:
        raise RuleViolation(error.code, error.message, policy_fields=[name]) from error


def read_choice(name: str, value: object, choices: type[Choice]) -> Choice:
    """Read a setting that is one word of a few."""
    if not isinstance(value, str) or value not in {one.value for one in choices}:
        raise wrong_value(name, value, f"one of {', '.join(choices)}")
    return choices(value)


def read_choices(name: str, value: object, choices: type[Choice]) -> frozenset[Choice]:
    """Read a setting that is a list of such words."""
    known = {one.value for one in choices}
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(one, str) and one in known for one in value
    ):
        raise wrong_value(name, value, f"a list of {', '.join(choices)}")
    return frozenset(choices(str(one)) for one in value)


_READERS: Mapping[str, Reader] = {
    **dict.fromkeys(FIELDS, read_number),
    "is_on": read_flag,
    "layout": _layout,
    "quiet": read_quiet,
    "budget_gb_hours": read_budget,
    "kinds": partial(read_choices, choices=TaskKind),
    "index_columns": _index_columns,
    "caution": partial(read_choice, choices=ConflictTolerance),
    "advice": partial(read_choice, choices=AdviceMode),
    "query_constants": partial(read_choice, choices=QueryConstants),
}
