"""Does an earlier notice speak of everything in a table that is due now or soon?"""

from collections.abc import Iterable

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
    if last_due is None or created is None or updated is None:
        return True
    return any(
        (row.level, row.ttl) == (table.level, table.ttl)
        and last_due <= row.horizon_on
        and created < row.read_at
        and updated <= row.as_of
        for row in announced
    )
