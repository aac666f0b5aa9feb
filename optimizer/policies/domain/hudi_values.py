"""Reads and writes the settings of Hudi policies, in JSON and forms, and their labels.

The manners are those of all policies: absent is inherited, `null` is "none" for blackout windows
and budget, and what is no setting is refused.
"""

import re
from collections.abc import Mapping
from functools import partial

from optimizer.hudi.maintenance.domain.tasks import Service
from optimizer.policies.domain.hudi_policy import FIELDS, HudiPolicy, Profile
from optimizer.policies.domain.values import (
    Reader,
    read_budget,
    read_choice,
    read_choices,
    read_flag,
    read_number,
    read_quiet,
    read_settings,
    write_values,
    wrong_value,
)
from optimizer.policies.domain.words import typed as typed_as_all

_CLASS = re.compile(r"[A-Za-z_]\w{0,99}(\.[A-Za-z_]\w{0,99}){1,15}", re.ASCII)
_NONE = "none"

# Of each setting: its title, and what it means or how it is written.
SETTINGS: Mapping[str, tuple[str, str]] = {
    "is_on": ("Services", "Whether work is done automatically"),
    "profile": (
        "Kind of table",
        "etl is served off-peak and in bulk, near-line eagerly; gives all defaults",
    ),
    "lock": (
        "Shared lock",
        "The class of the lock provider that writer and services share, or none; without one only "
        "plans that the writer scheduled are executed",
    ),
    "writer_serialized": (
        "Turns",
        "Whether a scheduler never lets the writer and the services run at once",
    ),
    "is_continuous": (
        "Resident service",
        "Whether a run stays with the table, sees each commit within seconds and serves it at "
        "once; give it no blackout window",
    ),
    "kinds": (
        "Services allowed",
        "What may be done automatically; CLEAN and TTL are approved first",
    ),
    "commits": ("Delta commits", "From how many on a compaction is scheduled; 1 or more"),
    "minutes": ("Minutes", "Or after how many minutes; 1 or more"),
    "max_plans": ("Plans a task", "How many pending plans one task executes, oldest first"),
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
        "How far the read-optimized view may be behind before that is a failure",
    ),
    "max_pending": ("Plans pending", "More of them than this are a failure; 1 or more"),
    "quiet": (
        "Blackout window",
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
    return read_settings(raw, _READERS)


def write_policy(policy: HudiPolicy) -> dict[str, object]:
    """Return every setting of a policy in its JSON form."""
    return write_values({name: getattr(policy, name) for name in FIELDS})


def typed(name: str, text: str) -> object:
    """Turn what was typed into a form into the JSON form.

    Raises:
        RuleViolation: `policy.value`, with how it is written.
    """
    if name == "lock" and text.strip().lower() == _NONE:
        return ""
    return typed_as_all(name, text)


def _lock(name: str, value: object) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _CLASS.fullmatch(value):
        raise wrong_value(name, value, "the full name of a lock provider's class, or nothing")
    return value


_READERS: Mapping[str, Reader] = {
    **dict.fromkeys(FIELDS, read_number),
    **dict.fromkeys(("is_on", "writer_serialized", "is_continuous"), read_flag),
    "profile": partial(read_choice, choices=Profile),
    "lock": _lock,
    "kinds": partial(read_choices, choices=Service),
    "quiet": read_quiet,
    "budget_gb_hours": read_budget,
}
