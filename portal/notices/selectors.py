"""Which notices may a person see, and which could not be sent?"""

from django.db.models import QuerySet

from portal.access.models import User
from portal.notices.models import Notice, NoticeState


def notices_for_user(user: User) -> QuerySet[Notice]:
    """Give what a person may see: admins and operators all, others what was sent to them."""
    if user.roles:
        return Notice.objects.all()
    return Notice.objects.filter(recipient=user.username)


def notices_failed(lake: str) -> QuerySet[Notice]:
    """Give what could not be sent, newest first."""
    return Notice.objects.filter(lake=lake, state=NoticeState.FAILED).order_by("-queued_at")
