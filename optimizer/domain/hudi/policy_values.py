"""How are the settings of Hudi policies written, in JSON and in forms, and in which words?

The manners are those of all policies: absent is inherited, `null` is "none" for quiet hours and
budget, and what is no setting is refused.
"""

import re
from collections.abc import Callable, Mapping

from optimizer.domain.hudi.policy import FIELDS, HudiPolicy, Profile
from optimizer.domain.hudi.tasks import Service
from optimizer.domain.policy import QuietHours
from optimizer.domain.policy_values import (
    read_budget,
    read_flag,
    read_number,
    read_quiet,
    wrong_value,
)
from optimizer.domain.policy_words import typed as typed_as_all
from portal.lake.errors import RuleViolation

_CLASS = re.compile(r"[A-Za-z_]\w{0,99}(\.[A-Za-z_]\w{0,99}){1,15}", re.ASCII)
_NONE = "none"

# Of each setting: its title, and what it means or how it is written.
SETTINGS: Mapping[str, tuple[str, str]] = {
    "is_on": ("Services", "Whether anything is done by itself"),
    "profile": (
        "Kind of table",
        "etl is served off-peak and in bulk, near-line eagerly; gives all defaults",
    ),
    "lock": (
        "Shared lock",
        "The class of the lock provider that writer and services share, or none; without one only "
        "plans that the writer scheduled are executed",
    ),
    "takes_turns": (
        "Turns",
        "Whether a scheduler never lets the writer and the services run at once",
    ),
    "is_resident": ("Resident service", "A service that stays, instead of jobs that end"),
    "kinds": ("Services allowed", "What may be done by itself; CLEAN and TTL are approved first"),
    "commits": ("Delta commits", "From how many on a compaction is scheduled; 1 or more"),
    "minutes": ("Minutes", "Or after how many minutes; 1 or more"),
    "most_plans": ("Plans a task", "How many pending plans one task executes, oldest first"),
    "cluster_files": (
        "Small file groups",
        "From how many in a partition on a clustering is scheduled; 0 is never",
    ),
    "small_bytes": ("Small", "Up to which size a base file is small, such as 300 MiB"),
    "clean_commits": ("Commits kept", "What readers of older commits need; 1 or more"),
    "ttl_days": ("Days of partitions", "After which they are dropped by approval; 0 is never"),
    "stuck_minutes": (
        "Minutes until stuck",
        "How old an instant without a heartbeat becomes before it is taken for stuck; 10 or more",
    ),
    "stale_minutes": (
        "Minutes until stale",
        "How far the read-optimized view may lie behind before that is a failure",
    ),
    "most_pending": ("Plans pending", "More of them than this are a failure; 1 or more"),
    "quiet": (
        "Quiet hours",
        "Nothing begins in them: 07:00-22:00 in the lake's time zone, or none",
    ),
    "budget_gb_hours": (
        "Budget",
        "GB-hours a day, shared by all tables that have it from one scope; or none for no limit",
    ),
}


def read_values(raw: Mapping[str, object]) -> dict[str, object]:
    """Read the settings of one level from JSON.

    Raises:
        RuleViolation: `policy.field` for a name that is no setting, `policy.value` for a value
            that is none.
    """
    unknown = sorted(raw.keys() - set(FIELDS))
    if unknown:
        raise RuleViolation(
            "policy.field",
            f"There is no setting {', '.join(unknown)}. The settings are {', '.join(FIELDS)}.",
            names=unknown,
        )
    return {name: _reader(name)(name, value) for name, value in raw.items()}


def write_values(values: Mapping[str, object]) -> dict[str, object]:
    """Give the JSON form of settings that were read; `read_values` gives them back."""
    return {name: _written(value) for name, value in values.items()}


def write_policy(policy: HudiPolicy) -> dict[str, object]:
    """Give every setting of a policy in its JSON form."""
    return write_values({name: getattr(policy, name) for name in FIELDS})


def typed(name: str, text: str) -> object:
    """Turn what was typed into a form into the JSON form.

    Raises:
        RuleViolation: `policy.value`, with how it is written.
    """
    if name == "lock" and text.strip().lower() == _NONE:
        return ""
    return typed_as_all(name, text)


def _written(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(str(one) for one in value)
    if isinstance(value, (QuietHours, Profile)):
        return str(value)
    return value


def _profile(name: str, value: object) -> Profile:
    if not isinstance(value, str) or value not in {one.value for one in Profile}:
        raise wrong_value(name, value, f"one of {', '.join(Profile)}")
    return Profile(value)


def _lock(name: str, value: object) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _CLASS.fullmatch(value):
        raise wrong_value(name, value, "the full name of a lock provider's class, or nothing")
    return value


def _kinds(name: str, value: object) -> frozenset[Service]:
    known = {one.value for one in Service}
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(one, str) and one in known for one in value
    ):
        raise wrong_value(name, value, f"a list of {', '.join(Service)}")
    return frozenset(Service(str(one)) for one in value)


_READERS: Mapping[str, Callable[[str, object], object]] = {
    **dict.fromkeys(("is_on", "takes_turns", "is_resident"), read_flag),
    "profile": _profile,
    "lock": _lock,
    "kinds": _kinds,
    "quiet": read_quiet,
    "budget_gb_hours": read_budget,
}


def _reader(name: str) -> Callable[[str, object], object]:
    return _READERS.get(name, read_number)
