"""Reads what earlier notices cover, and whether that is all of a table that is due now or soon."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Exists, OuterRef

from lifecycle.drop.domain.plan import Coverage
from lifecycle.models import NoticeCoverage, ScanSnapshot, TableFinding
from portal.notices.models import NoticeState


def newest_sent_notices(lake: str, tbl_ids: Iterable[int]) -> dict[int, tuple[NoticeCoverage, ...]]:
    """Return the announcements of each table, newest first; mails that failed do not count."""
    rows = NoticeCoverage.objects.filter(lake=lake, tbl_id__in=list(tbl_ids)).exclude(
        notice__state=NoticeState.FAILED
    )
    found: dict[int, tuple[NoticeCoverage, ...]] = {}
    for row in rows.select_related("notice").order_by("-horizon_on", "-pk"):
        found[row.tbl_id] = (*found.get(row.tbl_id, ()), row)
    return found


def notices_of(table: TableFinding, *, limit: int) -> list[NoticeCoverage]:
    """Return the newest notices that spoke of a table, with their mails."""
    rows = NoticeCoverage.objects.filter(lake=table.lake, tbl_id=table.tbl_id)
    return list(rows.select_related("notice").order_by("-pk")[:limit])


def is_covered(table: TableFinding, announced: Iterable[NoticeCoverage]) -> bool:
    """Whether one announcement speaks of every item of the table that is due now or soon."""
    last_due, created = table.window_due_last_on, table.window_created_at
    updated = table.window_updated_at
    if last_due is None:
        return True
    if created is None or updated is None:
        return False
    return any(
        (row.level, row.ttl) == (table.level, table.ttl)
        and last_due <= row.horizon_on
        and created < row.read_at
        and updated <= row.as_of
        for row in announced
    )


def coverages_of(generation: ScanSnapshot) -> dict[int, tuple[Coverage, ...]]:
    """Return the announcements that count for a scan's tables: sent, and of their present policy.

    One that went to several people counts once; those of tables that are gone, or whose level or
    ttl is another by now, say nothing about any item.
    """
    tables = TableFinding.objects.filter(
        generation=generation,
        tbl_id=OuterRef("tbl_id"),
        level=OuterRef("level"),
        ttl=OuterRef("ttl"),
    )
    rows = NoticeCoverage.objects.filter(
        Exists(tables),
        lake=generation.lake,
        notice__state=NoticeState.SENT,
        notice__sent_on__isnull=False,
    )
    fields = ("tbl_id", "level", "ttl", "horizon_on", "read_at", "as_of", "notice__sent_on")
    found: dict[int, list[Coverage]] = defaultdict(list)
    distinct = rows.order_by(*fields).values_list(*fields).distinct()
    for row in distinct.iterator(chunk_size=2_000):
        coverage = Coverage(*row)
        found[coverage.tbl_id].append(coverage)
    return {tbl_id: tuple(coverages) for tbl_id, coverages in found.items()}
