"""How much waits for an answer: the one definition that Home, mails, report and API use.

An item waits when it is due, due soon, or due but recently read, in a database that notifies
(NOTIFY or ACT), and nobody has put it on hold since the scan. What a database in OBSERVE holds is
counted apart: nobody is written to about it and nothing of it goes.
"""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from lifecycle.domain.expiry import ExpiryClass
from lifecycle.domain.modes import DatabaseMode
from lifecycle.models import (
    DatabaseSetting,
    Generation,
    ItemExample,
    OwnerTotals,
    TableFinding,
)
from portal.access.models import User
from portal.act.models import Hold
from portal.act.selectors import holds_active, standing

DUE_CLASSES = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ)


@dataclass(frozen=True, slots=True)
class Due:
    """Items that are due now, due soon, and due but recently read, with their known bytes."""

    n_clean_now: int = 0
    n_soon: int = 0
    n_still_read: int = 0
    bytes_clean_now: int = 0
    bytes_soon: int = 0
    bytes_still_read: int = 0

    @property
    def n_items(self) -> int:
        """How many items these are."""
        return self.n_clean_now + self.n_soon + self.n_still_read

    @property
    def n_bytes(self) -> int:
        """How much data that is, as far as it was measured."""
        return self.bytes_clean_now + self.bytes_soon + self.bytes_still_read

    @property
    def parts(self) -> str:
        """The parts in words, those that are there."""
        named = (
            (self.n_clean_now, "due now"),
            (self.n_soon, "due soon"),
            (self.n_still_read, "due but recently read"),
        )
        return ", ".join(f"{n:,} {words}" for n, words in named if n)

    def __add__(self, other: "Due") -> "Due":
        return Due(*(getattr(self, one) + getattr(other, one) for one in _NAMES))

    def __sub__(self, other: "Due") -> "Due":
        return Due(*(max(getattr(self, one) - getattr(other, one), 0) for one in _NAMES))


_NAMES = tuple(one.name for one in fields(Due))


@dataclass(frozen=True, slots=True)
class NeedsAnswer:
    """What waits for somebody's answer, and what is counted beside it."""

    waiting: Due
    observed: Due
    kept: Due


def due_of(table: TableFinding) -> Due:
    """Return the parts of one table, as its scan counted them."""
    return Due(*(getattr(table, name) for name in _NAMES))


def needs_answer(generation: Generation, user: User, *, now: datetime) -> NeedsAnswer:
    """Return what waits for the answer of a person in the current picture; four queries."""
    rows = OwnerTotals.objects.current(generation.lake).for_user(user).exclude(db="")
    modes = [mode for mode in DatabaseMode if mode.may_notify]
    notifying = DatabaseSetting.objects.filter(lake=generation.lake, mode__in=modes).values("db")
    told, observed = rows.filter(db__in=notifying), rows.exclude(db__in=notifying)
    tables = TableFinding.objects.current(generation.lake).for_user(user).filter(db__in=notifying)
    kept = _kept_since(generation, tables, now=now)
    return NeedsAnswer(waiting=_sum(told) - kept, observed=_sum(observed), kept=kept)


def _sum(rows: QuerySet[Any]) -> Due:
    return Due(**rows.aggregate(**{name: Coalesce(Sum(name), 0) for name in _NAMES}))


def _kept_since(generation: Generation, tables: QuerySet[TableFinding], *, now: datetime) -> Due:
    """Sum what holds keep that the scan did not know: they were placed after it read the lake.

    Partitions are looked up among the examples of their table (1,000 of each class).
    """
    fresh = holds_active(generation.lake, now=now).filter(placed_at__gt=generation.read_at)
    fresh = fresh.filter(db=OuterRef("db"))
    whole = Exists(fresh.filter(Q(table="") | Q(table=OuterRef("table")), partition=""))
    in_parts = Exists(fresh.filter(table=OuterRef("table")).exclude(partition=""))
    return _sum(tables.filter(whole)) + _parts(tables.exclude(whole).filter(in_parts), now=now)


def _parts(tables: QuerySet[TableFinding], *, now: datetime) -> Due:
    """Sum the due items of some tables that are on hold by their own name."""
    lake = OuterRef("table__lake")
    held = Hold.objects.filter(
        standing(now), lake=lake, db=OuterRef("table__db"), table=OuterRef("table__table"),
        partition=OuterRef("partition"),
    ).exclude(partition="")  # fmt: skip
    items = ItemExample.objects.filter(
        table__in=tables.order_by().values("pk"), cls__in=DUE_CLASSES
    )
    rows = items.filter(Exists(held)).order_by().values_list("cls")
    sums: dict[str, int] = {}
    for cls, n, size in rows.annotate(n=Count("pk"), size=Coalesce(Sum("n_bytes"), 0)):
        sums |= {f"n_{cls.lower()}": n, f"bytes_{cls.lower()}": size}
    return Due(**sums)
