"""What happened in each metastore since the last look? The follower's turn."""

from datetime import datetime


def follow(now: datetime) -> None:
    """Follow the notification log of every lake."""
