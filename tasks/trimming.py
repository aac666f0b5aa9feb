"""Trims the spools of all lakes: result files that nobody reads any more go, some at each turn."""

import logging
from datetime import datetime

from portal.access.lakes import all_lakes
from portal.lake.errors import PortalError
from portal.runs.results.removal import results_trim

EVERY_SECONDS = 60.0
_log = logging.getLogger(__name__)


def trim(now: datetime) -> None:
    """Remove what is old of each lake; one whose spool does not answer stops no other."""
    for lake in all_lakes():
        try:
            results_trim(lake, now=now)
        except PortalError as error:
            _log.warning("spool of %s: %s", lake, error.message)
