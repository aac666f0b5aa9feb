"""Trims what runs leave: result files in the spools of all lakes, logs of drivers on this host."""

import logging
from datetime import datetime
from functools import partial

from portal.access.lakes import all_lakes
from portal.lake.errors import PortalError
from portal.runs.records.spools import log_folder
from portal.runs.results.driver_logs_removal import driver_logs_trim
from portal.runs.results.removal import results_trim
from tasks.each_lake import EachLake

EVERY_SECONDS = 60.0
LOGS_EVERY_SECONDS = 600.0
_lakes = EachLake("spool")
_log = logging.getLogger(__name__)


def trim(now: datetime) -> None:
    """Remove what is old of each lake; one whose spool does not answer stops no other."""
    _lakes.turn(all_lakes(), partial(_trim_lake, now=now))


def _trim_lake(lake: str, *, now: datetime) -> None:
    try:
        results_trim(lake, now=now)
    except PortalError as error:
        _log.warning("spool of %s: %s", lake, error.message)


def trim_logs(now: datetime) -> None:
    """Remove old logs of drivers from the host that this runs on."""
    driver_logs_trim(log_folder(), now=now)
