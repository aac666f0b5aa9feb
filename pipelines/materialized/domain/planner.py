"""Plans one refresh: by changes or in full, and why."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from pipelines.commits.domain.positions import Kind, Meaning
from pipelines.materialized.domain.costs import Estimate, Past, estimate

MOST_DIRTY = 0.2
"""From which part of all groups on it is cheaper to compute all of them again."""
MOST_SINCE_FULL = 50
"""After how many refreshes sums of floating numbers are computed again."""


class Way(StrEnum):
    """How a refresh brings the table up to date."""

    NOTHING = "nothing"
    INCREMENTAL = "incremental"
    FULL = "full"


class Plan(msgspec.Struct, frozen=True):
    """What a refresh does, and why."""

    way: Way
    reason: str


class Known(msgspec.Struct, frozen=True):
    """What is known before anything is read."""

    is_new: bool = False
    is_asked_full: bool = False
    is_redefined: bool = False
    is_uncounted: bool = False
    """The counts of distinct values are not where the table is."""
    fact: Meaning = Meaning(Kind.NOTHING)
    dimensions: Mapping[str, Meaning] = {}
    changed_bytes: int = 0
    all_bytes: int = 0
    has_floats: bool = False
    n_since_full: int = 0
    past: tuple[Past, ...] = ()
    """Earlier refreshes, of this definition or another."""


def plan(known: Known) -> Plan:
    """Return how to refresh."""
    reason = _needs_full(known)
    if reason:
        return Plan(Way.FULL, reason)
    if known.fact.kind is Kind.NOTHING:
        return Plan(Way.NOTHING, "No row changed.")
    said = estimate(known.changed_bytes, known.all_bytes, known.past)
    read = (
        f"{_megabytes(known.changed_bytes)} to read, of {_megabytes(known.all_bytes)}. "
        f"{_seconds(said)}"
    )
    if said.is_full_cheaper:
        return Plan(Way.FULL, f"It is cheaper: changes have {read}")
    return Plan(Way.INCREMENTAL, f"{known.fact.n_commits} commits changed rows: {read}")


def _needs_full(known: Known) -> str:
    """Return why only a full computation is right; empty: none is needed."""
    if known.is_new:
        return "It had not been computed before."
    if known.is_asked_full:
        return "Somebody asked for it."
    if known.is_redefined:
        return "Its definition changed."
    if known.is_uncounted:
        return "The counts of its distinct values are not at the commits of its table."
    if known.fact.kind is Kind.FULL:
        return known.fact.reason
    for name, meaning in sorted(known.dimensions.items()):
        if meaning.kind is not Kind.NOTHING:
            return f"The joined table {name} changed. {meaning.reason}".rstrip()
    if known.has_floats and known.n_since_full >= MOST_SINCE_FULL:
        return (
            "Sums of floating numbers drift, so they are computed again after "
            f"{MOST_SINCE_FULL} refreshes."
        )
    return ""


def plan_groups(*, n_dirty: int, n_groups: int, n_impossible: int) -> Plan | None:
    """Return why the groups that changed need all to be computed; None: they do not."""
    if n_impossible:
        return Plan(
            Way.FULL,
            f"{n_impossible} groups would have fewer rows than none: the table does not fit its "
            "position.",
        )
    if n_dirty > MOST_DIRTY * n_groups:
        return Plan(
            Way.FULL,
            f"{n_dirty} of {n_groups} groups lost their least or greatest value, more than "
            f"{MOST_DIRTY:.0%}.",
        )
    return None


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / (1 << 20):,.1f} MiB"


def _seconds(said: Estimate) -> str:
    learnt = f" as {said.n_known} earlier refreshes did" if said.n_known else ""
    return (
        f"By changes takes about {said.by_changes:,.0f} s, in full {said.in_full:,.0f} s{learnt}."
    )
