"""Keep front ends fresh: plan and send what waits, in every cluster that this process leads.

Any number may run; leases pick who leads. It needs the database, not the broker.
"""

import logging
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from portal.runs.claims.leases import new_holder
from portal.servers.release import ReleaseWatch
from refresh.worker.services.worker import Worker

_log = logging.getLogger(__name__)
SECONDS = 0.5
# Between two turns, however much ends meanwhile.
BREATH = 0.05


class Command(BaseCommand):
    """Runs until SIGTERM or Ctrl-C, then waits for the statements that it sent."""

    help = "Refresh what StarRocks front ends cache of Hive metadata, as changes are received."

    def handle(self, *args: Any, **options: Any) -> None:
        """Turn until told to stop."""
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        worker, watch = Worker(holder=new_holder(), clock=timezone.now), ReleaseWatch()
        self.stdout.write("Refreshing.")
        while not (stop.is_set() or watch.is_former()):
            try:
                worker.turn()
            except (DatabaseError, InterfaceError) as error:
                _log.warning("the database did not answer: %s", error)
                connection.close()
            worker.wakeup.wait(SECONDS)
            stop.wait(BREATH)
        worker.stop()
