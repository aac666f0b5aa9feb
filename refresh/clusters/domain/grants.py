"""Reads from SHOW GRANTS whether a user may read and refresh the tables of a catalog (3.x)."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

_ON_TABLES = re.compile(
    r"^GRANT\s+(?P<rights>.+?)\s+ON\s+(?P<what>ALL\s+TABLES\s+IN\s+ALL\s+DATABASES|ALL\s+TABLES\s+IN"
    r"\s+DATABASE\b|TABLE\b)",
    re.IGNORECASE,
)
_ROLES = re.compile(r"^GRANT\s+(?P<roles>'[^']*'(?:\s*,\s*'[^']*')*)\s+TO\s", re.IGNORECASE)
_ROLE = re.compile(r"'([^']*)'")
# Roles that come with StarRocks and hold every right on tables.
_ALL_POWERFUL = frozenset({"root", "db_admin"})


class Extent(StrEnum):
    """On how many tables of a catalog a right is held."""

    ALL = "ALL"
    SOME = "SOME"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class Grant:
    """One row: the catalog that it speaks of, and the grant as StarRocks writes it."""

    catalog: str
    text: str


def roles_in(grants: Iterable[Grant]) -> list[str]:
    """Return the roles that were granted, in their order."""
    found: dict[str, None] = {}
    for grant in grants:
        match = _ROLES.match(grant.text.strip())
        if match is not None:
            found |= dict.fromkeys(_ROLE.findall(match["roles"]))
    return list(found)


def has_all_powerful(roles: Iterable[str]) -> bool:
    """Return whether one of the roles holds every right on tables."""
    return bool(_ALL_POWERFUL & set(roles))


def extents(
    grants: Iterable[Grant], *, rights: Iterable[str], catalogs: Iterable[str]
) -> Mapping[tuple[str, str], Extent]:
    """Return by (right, catalog) on how many tables the right is held."""
    found = {(right, catalog): Extent.NONE for right in rights for catalog in catalogs}
    for grant in grants:
        match = _ON_TABLES.match(grant.text.strip())
        if match is None:
            continue
        held = {right.strip().upper() for right in match["rights"].split(",")}
        is_all = " ".join(match["what"].upper().split()) == "ALL TABLES IN ALL DATABASES"
        for (right, catalog), before in found.items():
            if catalog == grant.catalog and held & {right, "ALL", "ALL PRIVILEGES"}:
                is_more = is_all or before is Extent.ALL
                found[right, catalog] = Extent.ALL if is_more else Extent.SOME
    return found
