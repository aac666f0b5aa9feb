"""What has been announced about a table? Only notices that the mail server took count."""

from collections.abc import Iterable

from lifecycle.domain.plan import Coverage
from lifecycle.models import AnnouncedCoverage
from portal.notices.models import NoticeState


def coverages_of(lake: str, tbl_ids: Iterable[int]) -> dict[int, tuple[Coverage, ...]]:
    """Give the announcements that count, by table; tables without any are left out."""
    rows = AnnouncedCoverage.objects.filter(
        lake=lake,
        tbl_id__in=list(tbl_ids),
        notice__state=NoticeState.SENT,
        notice__sent_on__isnull=False,
    ).select_related("notice")
    found: dict[int, tuple[Coverage, ...]] = {}
    for row in rows.order_by("pk"):
        found[row.tbl_id] = (*found.get(row.tbl_id, ()), _coverage(row))
    return found


def _coverage(row: AnnouncedCoverage) -> Coverage:
    if row.notice.sent_on is None:
        raise ValueError("only sent notices are read here")
    return Coverage(
        tbl_id=row.tbl_id,
        level=row.level,
        ttl=row.ttl,
        horizon_on=row.horizon_on,
        read_at=row.read_at,
        as_of=row.as_of,
        sent_on=row.notice.sent_on,
    )
