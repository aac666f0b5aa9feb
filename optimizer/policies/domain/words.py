"""Words a policy's settings for display, and reads what is typed into a form.

What is typed is turned into the JSON form, which `values.py` reads and checks; empty is
inherited and never gets here.
"""

import re
from collections.abc import Mapping

from portal.lake.errors import RuleViolation

KIB, MIB, GIB = 1024, 1024**2, 1024**3
NONE = "none"
_SIZE = re.compile(r"\s*(\d{1,15})\s*(b|bytes|k|kib|m|mib|g|gib)?\s*", re.IGNORECASE | re.ASCII)
_UNITS = {"b": 1, "k": KIB, "m": MIB, "g": GIB}
_BUDGET = re.compile(r"\s*\d{1,13}(\.\d{1,6})?\s*", re.ASCII)

# Of each setting: its title, and what it means or how it is written.
SETTINGS: Mapping[str, tuple[str, str]] = {
    "is_on": ("Optimizer", "Whether work is done automatically"),
    "target_bytes": (
        "Target file size",
        "What small files become, such as 512 MiB; 1 MiB to 64 GiB",
    ),
    "layout": (
        "Sort order",
        "hilbert(a,b), zorder(a,b) or sort(a,b) with up to 4 columns, or none; part.brand is a "
        "column of a table that a cube of the table joins as part; needs CLUSTER",
    ),
    "min_interval_minutes": (
        "Minutes between rewrites",
        "How long a table is left alone after one, unless much has piled up",
    ),
    "full_days": (
        "Days between full rewrites",
        "How often a whole partition may be rewritten; 0 is never; needs FULL",
    ),
    "expire_days": ("Snapshot retention (days)", "1 or more"),
    "keep_snapshots": ("Snapshots kept at least", "However old they are; 1 or more"),
    "orphan_days": ("Orphan file age (days)", "3 or more: younger ones may be in use"),
    "quarantine_days": (
        "Days in quarantine",
        "For so long orphan files are kept beside the data, to bring back, before they are "
        "deleted; 1 to 365",
    ),
    "manifests": ("Manifests", "From how many on they are rewritten; 2 or more"),
    "quiet": (
        "Blackout window",
        "Nothing begins in them: 22:00-06:00 in the lake's time zone, or none",
    ),
    "budget_gb_hours": (
        "Budget",
        "GB-hours a day, shared by all tables that have it from one scope; or none for no limit",
    ),
    "kinds": ("Kinds of work", "What may be done"),
    "caution": (
        "Conflict avoidance",
        "How much risk of losing a rewrite to another writer is taken: high takes the least",
    ),
    "index_columns": (
        "Indexed columns",
        "Columns by which queries find files, with commas between them: id, message:ngram_bloom. "
        "part.brand is indexed by the foreign key of the cubes' join part. "
        "Up to 16, each with a kind if it matters (bloom, bitmap, bloomrf, token_bloom, "
        "ngram_bloom, token_bitmap, ngram_bitmap), or none; needs INDEX",
    ),
    "advice": (
        "Advice",
        "Layouts that scans speak for: off looks for none, propose waits for a person, auto "
        "applies those of medium or high confidence in the name of who set it",
    ),
    "query_constants": (
        "Constants of recorded queries",
        "What the lake's table of recorded queries holds of the values in a query: hidden keeps "
        "hashes alone, kept keeps them in clear where all tables of the query say so",
    ),
}


def say(name: str, value: object) -> str:
    """Say a value in its JSON form in the words that a form takes back."""
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return "on" if value else "off"
    if name.endswith("_bytes") and isinstance(value, int):
        return _size_words(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or NONE
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def typed(name: str, text: str) -> object:
    """Turn what was typed into the JSON form.

    Raises:
        RuleViolation: `policy.value`, with how it is written.
    """
    if name.endswith("_bytes"):
        return _size(name, text)
    if name == "budget_gb_hours":
        return _budget(text)
    if name == "index_columns":
        columns = [one.strip() for one in text.split(",") if one.strip()]
        return [] if [one.lower() for one in columns] == [NONE] else columns
    if text.strip().lower() == NONE:
        return "" if name == "layout" else None
    return text


def changes(
    before: Mapping[str, object],
    after: Mapping[str, object],
    *,
    settings: Mapping[str, tuple[str, str]] = SETTINGS,
) -> list[str]:
    """Say what one version of a scope says otherwise than the one before it."""
    out = []
    for name, (title, _) in settings.items():
        if name in after and name not in before:
            out.append(f"{title}: {say(name, after[name])}, inherited before")
        elif name in before and name not in after:
            out.append(f"{title}: inherited again, {say(name, before[name])} before")
        elif name in after and after[name] != before[name]:
            was, now = say(name, before[name]), say(name, after[name])
            out.append(f"{title}: {was} → {now}")
    return out


def _size_words(value: int) -> str:
    for word, unit in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if value and value % unit == 0:
            return f"{value // unit} {word}"
    return f"{value} bytes"


def _size(name: str, text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise _wrong(name, f"'{text}' is no size: write 512 MiB, 1 GiB, or bytes.")
    return int(found[1]) * _UNITS[(found[2] or "b")[0].lower()]


def _budget(text: str) -> float | None:
    if text.strip().lower() == NONE:
        return None
    if _BUDGET.fullmatch(text) is None:
        raise _wrong(
            "budget_gb_hours", f"'{text}' is no budget: write GB-hours a day such as 40, or none."
        )
    return float(text)


def _wrong(name: str, words: str) -> RuleViolation:
    return RuleViolation("policy.value", words, policy_fields=[name])
