"""How large the largest tables are, by class, and what the others come to together."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Sum

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.selectors.findings import current_generation
from lifecycle.models import TableFinding
from portal.access.models import User

LARGEST = 60


@dataclass(frozen=True, slots=True)
class TableSize:
    """The measured bytes of a table in each class."""

    db: str
    table: str
    bytes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The largest tables, and the bytes of all others by class."""

    tables: tuple[TableSize, ...]
    others: Mapping[str, int]


def sizes_of(lake: str, user: User) -> Sizes | None:
    """Return the sizes of what the person may see, by the last scan; None before the first.

    The largest come from an index. What the others come to is in the scan's totals for who sees
    the whole lake; for others their own tables are added up, whose classes are not told apart.
    """
    generation = current_generation(lake)
    if generation is None:
        return None
    mine = TableFinding.objects.current(lake).for_user(user)
    largest = mine.filter(n_bytes__gt=0).order_by("-n_bytes", "-pk")
    rows = largest.values_list("db", "table", "n_bytes", "class_bytes")[:LARGEST]
    tables = tuple(
        TableSize(db, table, _known(n_bytes, classes)) for db, table, n_bytes, classes in rows
    )
    if len(tables) < LARGEST:
        return Sizes(tables, {})
    if user.is_lake_staff_of(lake):
        whole = {cls: part["bytes"] for cls, part in generation.totals.get("classes", {}).items()}
        shown = {cls: sum(one.bytes.get(cls, 0) for one in tables) for cls in whole}
        return Sizes(tables, {cls: max(whole[cls] - shown[cls], 0) for cls in whole})
    total = mine.aggregate(n=Sum("n_bytes"))["n"] or 0
    rest = total - sum(sum(one.bytes.values()) for one in tables)
    return Sizes(tables, {ExpiryClass.UNKNOWN.value: rest} if rest > 0 else {})


def _known(n_bytes: int, classes: Mapping[str, int | None]) -> dict[str, int]:
    """Return the bytes by class; what belongs to none is unknown."""
    found = {cls: size for cls, size in classes.items() if size}
    if left := n_bytes - sum(found.values()):
        found[ExpiryClass.UNKNOWN.value] = found.get(ExpiryClass.UNKNOWN.value, 0) + max(left, 0)
    return found
