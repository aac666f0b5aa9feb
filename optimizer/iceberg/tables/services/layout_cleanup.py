"""Finds writes of the portal without a remaining file, so that their rows may be deleted.

A look is asked for the files of old writes, a few at a time and each once a week, in all snapshots
that a table still has. Only what it did not find there goes. The newest write of a layout always
stays: by its boundaries later files are made comparable.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from optimizer.core.services.retention import kept
from optimizer.models import LayoutWrite

MOST_ASKED = 2_000
ASK_AGAIN = timedelta(days=7)


def writes_to_search(tables: Collection[int], *, now: datetime) -> dict[int, list[str]]:
    """Return the write ids of which files are searched for in the next look, by table."""
    searched = Q(searched_at__gte=now - ASK_AGAIN)
    rows = _old(now).filter(table__in=tables).exclude(searched).order_by("at", "pk")
    found: defaultdict[int, list[str]] = defaultdict(list)
    for table_id, write_id in rows.values_list("table_id", "write_id")[:MOST_ASKED]:
        found[table_id].append(write_id)
    return found


def writes_settle(searched: Iterable[Mapping[str, Any]], *, now: datetime) -> int:
    """Forget writes of which a look found no file; returns how many. Taken in twice it is the same.

    `searched` has `table_id`, `write_id` and `is_used` of each that was searched for.
    """
    used: dict[bool, defaultdict[int, list[str]]] = {
        True: defaultdict(list),
        False: defaultdict(list),
    }
    for row in searched:
        used[bool(row["is_used"])][row["table_id"]].append(row["write_id"])
    for table_id, ids in used[True].items():
        rows = LayoutWrite.objects.filter(table=table_id, write_id__in=ids)
        rows.update(searched_at=now)
    n_gone = 0
    for table_id, ids in used[False].items():
        old = _old(now).filter(table=table_id, write_id__in=ids)
        keys = list(old.values_list("pk", flat=True))
        n_gone += LayoutWrite.objects.filter(pk__in=keys).delete()[0]
    return n_gone


def _old(now: datetime) -> QuerySet[LayoutWrite]:
    """Return the writes that are old and not the newest of their table and layout."""
    same = LayoutWrite.objects.filter(table=OuterRef("table_id"), layout=OuterRef("layout"))
    is_later = Q(at__gt=OuterRef("at")) | Q(at=OuterRef("at"), pk__gt=OuterRef("pk"))
    before = now - kept(settings.LAKEWARDEN_OPTIMIZER_LAYOUT_DAYS)
    return LayoutWrite.objects.filter(Exists(same.filter(is_later)), at__lt=before)
