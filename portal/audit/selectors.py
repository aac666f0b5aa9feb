"""Which events may a person see?"""

from django.db.models import QuerySet

from portal.access.models import User
from portal.audit.models import AuditEvent


def audit_for_user(user: User) -> QuerySet[AuditEvent]:
    """Give what a person may see: admins and operators all, others what they did themselves."""
    if user.is_lake_keeper:
        return AuditEvent.objects.all()
    return AuditEvent.objects.filter(actor=user.username)


def audit_of_object(lake: str, object_type: str, object_id: str) -> QuerySet[AuditEvent]:
    """Give the history of one object, newest first; who may see the object is for its own page."""
    return AuditEvent.objects.filter(
        lake=lake, object_type=object_type, object_id=object_id
    ).order_by("-seq")
