"""Decides the LEVEL and TTL that a table or database may have, who may set them, and how.

An admin changes what is in lifecycle already; an owner asks and one admin says yes; what is not in
lifecycle comes in by an enrollment, which two people approve. Reading values is `enrollment.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from lifecycle.core.domain.enrollment import (
    KEEP_FOREVER_LEVEL,
    LEVEL_KEYS,
    LIFECYCLE_LEVEL,
    MAX_TTL_DAYS,
    TTL_KEYS,
)
from portal.lake.counts import count_words
from portal.lake.errors import NotAllowed, RuleViolation

KEYS = (*LEVEL_KEYS, *TTL_KEYS)


@dataclass(frozen=True, slots=True)
class Values:
    """A LEVEL and a TTL as they stand or shall stand; None where there is none that can be read."""

    level: int | None = None
    ttl: int | None = None

    @property
    def in_lifecycle(self) -> bool:
        """Whether data under these values falls due by its age."""
        return self.level == LIFECYCLE_LEVEL and self.ttl is not None

    def __str__(self) -> str:
        if self.level == KEEP_FOREVER_LEVEL:
            return "kept for ever (LEVEL 0)"
        if self.ttl is None or not self.in_lifecycle:
            return "not in lifecycle"
        return f"TTL {count_words(self.ttl, 'day')} (LEVEL 1)"


class Route(StrEnum):
    """By which way a change comes about."""

    NOW = "NOW"
    ONE_ADMIN = "ONE_ADMIN"


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, as far as the rules look at it."""

    is_admin: bool
    owns: bool


def check_values(values: Values) -> None:
    """Refuse values that mean nothing: RuleViolation `policy.values`."""
    if values.level not in (KEEP_FOREVER_LEVEL, LIFECYCLE_LEVEL):
        raise RuleViolation("policy.values", "LEVEL is 0 (keep for ever) or 1 (lifecycle).")
    if values.ttl is not None and not 1 <= values.ttl <= MAX_TTL_DAYS:
        raise RuleViolation(
            "policy.values", f"TTL is a whole number of days from 1 to {MAX_TTL_DAYS}."
        )
    if values.level == LIFECYCLE_LEVEL and values.ttl is None:
        raise RuleViolation("policy.values", "LEVEL 1 needs a TTL: after how many days may it go?")


def route_of_table(seen: Values, wanted: Values, asker: Asker) -> Route:
    """Say how a table's values may change.

    Raises:
        NotAllowed: `policy.role` for who neither owns the table nor is an admin.
        RuleViolation: values that mean nothing, no change at all, or a table that would enter
            lifecycle (`policy.enrol`).
    """
    if not (asker.is_admin or asker.owns):
        raise NotAllowed("policy.role", "Only an owner of the table or an admin changes its TTL.")
    check_values(wanted)
    _check_differs(seen, wanted)
    if wanted.in_lifecycle and not seen.in_lifecycle:
        raise RuleViolation(
            "policy.enrol",
            f"The table is {seen}. Bringing data into lifecycle is an enrollment that two people "
            "approve; an admin asks for one under Enrollments.",
        )
    return Route.NOW if asker.is_admin else Route.ONE_ADMIN


def route_of_database(seen: Values, wanted: Values, asker: Asker) -> Route:
    """Say how a database's values, which only new tables get, may change: by an admin.

    Raises:
        NotAllowed: `policy.role` for anyone else.
        RuleViolation: values that mean nothing, or no change at all.
    """
    if not asker.is_admin:
        raise NotAllowed("policy.role", "Only an admin changes what new tables get; ask one.")
    check_values(wanted)
    _check_differs(seen, wanted)
    return Route.NOW


def falls_due_sooner(seen: Values, wanted: Values) -> bool:
    """Whether a change can only make data due that was not, or earlier than it was."""
    if not wanted.in_lifecycle:
        return False
    return not seen.in_lifecycle or (seen.ttl or 0) > (wanted.ttl or 0)


def written(parameters: Mapping[str, str], wanted: Values) -> dict[str, str]:
    """Return parameters that hold `wanted` and everything else as it was.

    A spelling that is there is kept; where both are, or none, the capital one stands.
    """
    kept = {key: value for key, value in parameters.items() if key not in KEYS}
    for (capital, small), value in ((LEVEL_KEYS, wanted.level), (TTL_KEYS, wanted.ttl)):
        if value is not None:
            only_small = small in parameters and capital not in parameters
            kept[small if only_small else capital] = str(value)
    return kept


def raw_policy(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that say LEVEL and TTL, in any spelling, exactly as they stand."""
    return {key: parameters[key] for key in KEYS if key in parameters}


def put_back(parameters: Mapping[str, str], raw: Mapping[str, str]) -> dict[str, str]:
    """Return parameters whose LEVEL and TTL are exactly `raw` again, everything else as it is."""
    return {key: value for key, value in parameters.items() if key not in KEYS} | dict(raw)


def _check_differs(seen: Values, wanted: Values) -> None:
    if seen == wanted:
        raise RuleViolation("policy.same", f"Nothing would change: it is {seen} already.")
