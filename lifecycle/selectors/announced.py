"""What do earlier notices speak of, and is that everything in a table that is due now or soon?"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

from lifecycle.domain.plan import Coverage
from lifecycle.models import AnnouncedCoverage, TableFinding
from portal.notices.models import NoticeState


def newest_announcements(
    lake: str, tbl_ids: Iterable[int]
) -> dict[int, tuple[AnnouncedCoverage, ...]]:
    """Give the announcements of each table, newest first; mails that failed do not count."""
    rows = AnnouncedCoverage.objects.filter(lake=lake, tbl_id__in=list(tbl_ids)).exclude(
        notice__state=NoticeState.FAILED
    )
    found: dict[int, tuple[AnnouncedCoverage, ...]] = {}
    for row in rows.select_related("notice").order_by("-horizon_on", "-pk"):
        found[row.tbl_id] = (*found.get(row.tbl_id, ()), row)
    return found


def is_covered(table: TableFinding, announced: Iterable[AnnouncedCoverage]) -> bool:
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


def coverages_of(lake: str) -> dict[int, tuple[Coverage, ...]]:
    """Give the announcements that count, by table: those whose mail has been sent."""
    rows = AnnouncedCoverage.objects.filter(lake=lake, notice__state=NoticeState.SENT)
    found: dict[int, list[Coverage]] = defaultdict(list)
    for row in rows.select_related("notice").order_by("pk").iterator(chunk_size=2_000):
        if row.sent_on is not None:
            found[row.tbl_id].append(_coverage(row, row.sent_on))
    return {tbl_id: tuple(coverages) for tbl_id, coverages in found.items()}


def _coverage(row: AnnouncedCoverage, sent_on: date) -> Coverage:
    return Coverage(
        tbl_id=row.tbl_id,
        level=row.level,
        ttl=row.ttl,
        horizon_on=row.horizon_on,
        read_at=row.read_at,
        as_of=row.as_of,
        sent_on=sent_on,
    )
