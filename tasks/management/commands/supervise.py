"""Keep the work going: relay, supervise, watchdog, schedule and the event follower, in one process.

Any number may run; leases pick who leads. It needs the database, not the broker.
"""

import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from portal.runs.claims.leases import SUPERVISOR, new_holder
from portal.spark.process_table import host_identity
from tasks import anchoring, trimming
from tasks.follow import follow, follow_end
from tasks.loops import Loop, Loops
from tasks.relay import relay
from tasks.schedule import schedule
from tasks.supervise import end_strays, hold, supervise
from tasks.watchdog import watchdog


class Command(BaseCommand):
    """Runs the loops until SIGTERM or Ctrl-C."""

    help = "Run the relay, supervise, watchdog, schedule and follower loops."

    def handle(self, *args: Any, **options: Any) -> None:
        """Start the loops and wait."""
        # Applications can be asked after only on the host that launched them, leader or not, and
        # their logs lie there.
        here = f"{SUPERVISOR}@{host_identity()}"
        loops = Loops(
            [
                Loop("relay", 1.0, relay, f"{SUPERVISOR}:relay"),
                Loop("supervise", settings.LAKEWARDEN_POLL_SECONDS, supervise, here),
                Loop("hold", settings.LAKEWARDEN_POLL_SECONDS, hold, f"{here}:hold"),
                Loop("strays", settings.LAKEWARDEN_POLL_SECONDS, end_strays, f"{here}:strays"),
                Loop("watchdog", settings.LAKEWARDEN_WATCHDOG_SECONDS, watchdog, SUPERVISOR),
                Loop("schedule", 5.0, schedule, f"{SUPERVISOR}:schedule"),
                Loop("anchor", anchoring.EVERY_SECONDS, anchoring.anchor, f"{SUPERVISOR}:anchor"),
                Loop("spool", trimming.EVERY_SECONDS, trimming.trim, f"{SUPERVISOR}:spool"),
                Loop("logs", trimming.LOGS_EVERY_SECONDS, trimming.trim_logs, f"{here}:logs"),
                Loop("follow", 1.0, follow, f"{SUPERVISOR}:follow", follow_end),
            ],
            holder=new_holder(),
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: loops.stop())
        loops.start()
        self.stdout.write("Supervising.")
        loops.wait()
