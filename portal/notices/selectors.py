"""Queries of the notifications that a person may see, and of those that could not be sent."""

from typing import TypedDict
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from portal.access.models import User
from portal.access.visibility import of_staffed_lakes
from portal.lake.errors import NotVisible
from portal.notices.models import Notice, NoticeState


def notices_for_user(user: User, lake: str = "") -> QuerySet[Notice]:
    """Return what a person may see: all of the lakes that they keep, and what was sent to them.

    Of one lake, or (empty) of all.
    """
    mine = Q(recipient=user.username)
    return Notice.objects.filter(of_staffed_lakes(user, otherwise=mine, of_lake=lake))


class NoticeCounts(TypedDict):
    """What somebody should look at among mails."""

    failed: int
    repeats: int


def get_notice_for_user(notice_id: UUID, user: User) -> Notice:
    """Return one notice that the person may see.

    Raises:
        NotVisible: there is none of that id, or it was sent to somebody else.
    """
    notice = notices_for_user(user).filter(pk=notice_id).first()
    if notice is None:
        raise NotVisible("notice.unknown", "There is no mail of that id for you.")
    return notice


def notice_counts(rows: QuerySet[Notice]) -> NoticeCounts:
    """Count the mails that failed, and the sendings that may have been repeats."""
    repeats = rows.filter(n_repeats__gt=0).aggregate(n=Sum("n_repeats"))["n"]
    return NoticeCounts(failed=rows.filter(state=NoticeState.FAILED).count(), repeats=repeats or 0)
