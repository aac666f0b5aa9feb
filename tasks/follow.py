"""Takes in what happened in each metastore since the follower's last turn."""

import logging
from datetime import datetime

from django.utils import timezone

from portal.access.lakes import all_lakes
from portal.events.services import follow_once, follow_released
from portal.lake.errors import PortalError
from tasks.each_lake import EachLake

_log = logging.getLogger(__name__)
_last_problem: dict[str, str] = {}
MAX_BATCHES = 50
_lakes = EachLake("follow")


def follow(_now: datetime) -> None:
    """Follow the notification log of every lake; a metastore that is gone is logged once.

    The loop's own instant is of no use here: each batch is noted under one of its own.
    """
    _lakes.turn(all_lakes(), _follow_lake)


def follow_end(now: datetime) -> None:
    """Let another process follow at once: a lease that nobody gives back leads for a minute."""
    for lake in all_lakes():
        follow_released(lake, now=now)


def _follow_lake(lake: str) -> None:
    problem = ""
    try:
        _catch_up(lake)
    except PortalError as error:
        problem = error.message
    if problem != _last_problem.get(lake, ""):
        _log.warning("follower of %s: %s", lake, problem or "answers again")
        _last_problem[lake] = problem


def _catch_up(lake: str) -> None:
    """Take in what waits, in bounded turns, so that other lakes get theirs."""
    for _ in range(MAX_BATCHES):
        followed = follow_once(lake, timezone.now)
        for alarm in followed.alarms:
            _log.warning("follower of %s: %s", lake, alarm)
        if not followed.leading or not followed.n_behind:
            return
