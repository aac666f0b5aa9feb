"""Queries of the follower's position and of the events it missed."""

from django.db.models import QuerySet

from portal.events.models import EventAlarm, EventPosition


def follower_state(lake: str) -> EventPosition | None:
    """Return the follower's position, or None before its first look at this lake."""
    return EventPosition.objects.filter(lake=lake).first()


def clock_behind(lake: str) -> int:
    """Return by how many seconds the metastore's clock lies behind ours at least, as last seen."""
    place = follower_state(lake)
    return place.clock_behind_seconds if place is not None else 0


def alarms_open(lake: str) -> QuerySet[EventAlarm]:
    """Return what was missed and not yet read again, oldest first."""
    return EventAlarm.objects.filter(lake=lake, rescanned_at=None).order_by("event_id", "id")


def knows_all_since(lake: str, event_id: int) -> bool:
    """Whether the follower has seen every event from `event_id` up to its last look."""
    place = follower_state(lake)
    return (
        place is not None
        and place.first_id <= event_id
        and place.n_behind == 0
        and not alarms_open(lake).exists()
    )
