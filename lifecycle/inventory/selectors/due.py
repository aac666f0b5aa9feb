"""How much waits for an answer: the one definition that Home, mails, report and API use.

An item waits when it is due, due soon, or due but recently read, in a database that notifies
(NOTIFY or ACT), since the scan nobody has put it on hold and no plan has dropped it, and no
request about its whole table waits for somebody else. What a database in OBSERVE holds is counted
apart: nobody is written to about it and nothing of it goes.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from lifecycle.backup.models import Hold
from lifecycle.backup.selectors import holds_active, standing
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.domain.due_totals import DUE_NAMES, Due
from lifecycle.inventory.selectors.dropped import dropped_parts, without_dropped
from lifecycle.models import (
    DatabaseSetting,
    DeletionRequest,
    OwnerTotals,
    PolicyRequest,
    SamplePartition,
    ScanSnapshot,
    TableFinding,
)
from lifecycle.policies.domain.states import RequestState
from portal.access.models import User

DUE_CLASSES = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ)


@dataclass(frozen=True, slots=True)
class NeedsAnswer:
    """What waits for somebody's answer, and what is counted beside it."""

    waiting: Due
    observed: Due
    kept: Due
    answered: Due
    dropped: Due


def needs_answer(generation: ScanSnapshot, user: User, *, now: datetime) -> NeedsAnswer:
    """Return what waits for the answer of a person in the current picture.

    Six queries, and two more where something was dropped since the scan.
    """
    rows = OwnerTotals.objects.current(generation.lake).for_user(user).exclude(db="")
    modes = [mode for mode in DatabaseMode if mode.may_notify]
    notifying = DatabaseSetting.objects.filter(lake=generation.lake, mode__in=modes).values("db")
    told, observed = rows.filter(db__in=notifying), rows.exclude(db__in=notifying)
    mine = TableFinding.objects.current(generation.lake).for_user(user)
    tables = mine.filter(db__in=notifying)
    fresh = _fresh_holds(generation, now=now)
    whole = Exists(fresh.filter(Q(table="") | Q(table=OuterRef("table")), partition=""))
    requested = _requested(generation.lake)
    asked = tables.filter(requested).exclude(whole)
    kept = _sum(tables.filter(whole))
    kept += _kept_parts(tables.exclude(whole).exclude(requested), fresh, now=now)
    answered = _sum(asked)
    # What was dropped of a table on hold, or answered for, is neither: it is gone.
    gone: defaultdict[tuple[bool, bool, bool], Due] = defaultdict(Due)
    marked = mine.annotate(
        is_told=Exists(notifying.filter(db=OuterRef("db"))), is_kept=whole, is_asked=requested
    )
    for row, part in dropped_parts(generation.lake, marked):
        gone[row.is_told, row.is_kept, row.is_asked and not row.is_kept] += part
    kept -= gone[True, True, False]
    answered -= gone[True, False, True]
    gone_by = {key: _all_of(gone, is_told=key) for key in (True, False)}
    return NeedsAnswer(
        waiting=_sum(told) - kept - answered - gone_by[True],
        observed=_sum(observed) - gone_by[False],
        kept=kept,
        answered=answered,
        dropped=gone_by[True] + gone_by[False],
    )


def _all_of(gone: Mapping[tuple[bool, bool, bool], Due], *, is_told: bool) -> Due:
    return sum((part for key, part in gone.items() if key[0] is is_told), Due())


def _requested(lake: str) -> Q:
    """Return whether a request about a whole table waits for somebody else's answer."""
    named = {"lake": lake, "db": OuterRef("db"), "table": OuterRef("table"), "partition": ""}
    changes = PolicyRequest.objects.filter(**named, state=RequestState.PENDING)
    deletions = DeletionRequest.objects.filter(**named, state=DeletionRequest.State.OPEN)
    return Q(Exists(changes)) | Q(Exists(deletions))


def _sum(rows: QuerySet[Any]) -> Due:
    return Due(**rows.aggregate(**{name: Coalesce(Sum(name), 0) for name in DUE_NAMES}))


def _fresh_holds(generation: ScanSnapshot, *, now: datetime) -> QuerySet[Hold]:
    """Return the holds on a database that the scan did not know: placed after it read the lake."""
    fresh = holds_active(generation.lake, now=now).filter(placed_at__gt=generation.read_at)
    return fresh.filter(db=OuterRef("db"))


def _kept_parts(tables: QuerySet[TableFinding], fresh: QuerySet[Hold], *, now: datetime) -> Due:
    """Sum what holds on partitions keep of some tables.

    Partitions are looked up among the examples of their table (1,000 of each class).
    """
    in_parts = Exists(fresh.filter(table=OuterRef("table")).exclude(partition=""))
    return _parts(tables.filter(in_parts), now=now)


def _parts(tables: QuerySet[TableFinding], *, now: datetime) -> Due:
    """Sum the due items of some tables that are on hold by their own name."""
    lake = OuterRef("table__lake")
    held = Hold.objects.filter(
        standing(now), lake=lake, db=OuterRef("table__db"), table=OuterRef("table__table"),
        partition=OuterRef("partition"),
    ).exclude(partition="")  # fmt: skip
    items = SamplePartition.objects.filter(
        table__in=tables.order_by().values("pk"), cls__in=DUE_CLASSES
    )
    kept = without_dropped(items.filter(Exists(held)))
    rows = kept.order_by().values_list("cls")
    sums: dict[str, int] = {}
    for cls, n, size in rows.annotate(n=Count("pk"), size=Coalesce(Sum("n_bytes"), 0)):
        sums |= {f"n_{cls.lower()}": n, f"bytes_{cls.lower()}": size}
    return Due(**sums)
