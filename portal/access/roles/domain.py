"""Roles on all lakes or on one lake, and which of them count for what. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from portal.lake.errors import RuleViolation

ADMIN = "admin"
OPERATOR = "operator"
ROLES = frozenset({ADMIN, OPERATOR})
STAFF = frozenset({ADMIN, OPERATOR})
ALL_LAKES = ""


@dataclass(frozen=True, slots=True, order=True)
class RoleGrant:
    """A role that a person has; an empty lake is every lake, and what belongs to none."""

    role: str
    lake: str = ALL_LAKES

    def __str__(self) -> str:
        return f"{self.role}@{self.lake}" if self.lake else self.role


def roles_on(grants: Iterable[RoleGrant], lake: str) -> frozenset[str]:
    """Return the roles that count on a lake; for no lake (empty) only those on all lakes."""
    return frozenset(grant.role for grant in grants if grant.lake in (ALL_LAKES, lake))


def lakes_with(grants: Collection[RoleGrant], roles: Collection[str]) -> frozenset[str] | None:
    """Return the lakes on which one of the roles is held; None is all of them."""
    lakes = frozenset(grant.lake for grant in grants if grant.role in roles)
    return None if ALL_LAKES in lakes else lakes


def read_grant(text: str) -> RoleGrant:
    """Read `role`, which is on all lakes, or `role@lake`.

    Raises:
        RuleViolation: `person.role`, no such role, or a lake that is left empty.
    """
    role, at, lake = text.strip().partition("@")
    if role not in ROLES or (at and not lake):
        raise RuleViolation(
            "person.role",
            f"{text[:100]!a} is no role. Give {' or '.join(sorted(ROLES))}, which is on all lakes, "
            "or with @ and the name of one lake behind it.",
        )
    return RoleGrant(role, lake)


def read_grants(texts: Iterable[str], *, lakes: Collection[str]) -> frozenset[RoleGrant]:
    """Read roles and check that each lake is governed.

    Raises:
        RuleViolation: `person.role`, no such role; `person.lake`, no such lake.
    """
    grants = frozenset(map(read_grant, texts))
    for grant in sorted(grants):
        check_lake(grant, lakes=lakes)
    return grants


def check_lake(grant: RoleGrant, *, lakes: Collection[str]) -> None:
    """Refuse a role on a lake that the portal does not govern.

    Raises:
        RuleViolation: `person.lake`.
    """
    if grant.lake and grant.lake not in lakes:
        known = f"There is: {', '.join(sorted(lakes))}." if lakes else "None is set up yet."
        raise RuleViolation(
            "person.lake",
            f"The role {str(grant)[:100]!a} is on a lake that is not governed here. {known} "
            "Correct the name, or add the lake to lakes.json first.",
        )
