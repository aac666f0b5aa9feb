"""Queries of the audit log."""

from collections.abc import Iterable
from datetime import datetime

from portal.audit.models import AuditEvent


def happened_since(lake: str, actions: Iterable[str], since: datetime) -> set[str]:
    """Return which of these actions anybody took in a lake since an instant."""
    events = AuditEvent.objects.filter(lake=lake, action__in=list(actions), at__gte=since)
    return set(events.order_by().values_list("action", flat=True).distinct())
