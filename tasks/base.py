"""Handles a worker's hint: reads the row behind the id, and does what that row needs."""

import logging
import os
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from portal.lake.clock import day_of
from portal.lake.errors import PortalError
from portal.log_context import bound
from portal.notices.models import Notice
from portal.notices.services import notice_send
from portal.runs.claims.leases import new_holder
from portal.runs.execution.steps import run_step
from portal.servers.release import ReleaseWatch
from tasks.celery import app
from tasks.lakes import zone_of

_log = logging.getLogger(__name__)
_holders: dict[int, str] = {}
_watch = ReleaseWatch()


def holder() -> str:
    """Return this process's name on claims; a forked child gets its own."""
    return _holders.setdefault(os.getpid(), new_holder())


def leaves_it(task: Any) -> bool:
    """Whether a message is left to a worker of a newer release; this one then ends."""
    if not _watch.is_former():
        return False
    # Without a name it would end all workers; it has none where no worker called the task.
    if worker := task.request.hostname:
        app.control.shutdown(destination=[worker])
    return True


@app.task(name="tasks.run", bind=True)
def run_publish(task: Any, row_id: str, *_args: Any, **_later: Any) -> None:
    """Do what a run needs now. Arguments that a newer release sends are left alone."""
    with bound(task="tasks.run", run=row_id):
        if leaves_it(task):
            return
        try:
            run_step(row_id, holder=holder())
        except (PortalError, DatabaseError):
            # The row still says what is to be done, and the watchdog says it again.
            _log.exception("run %s: left for the watchdog", row_id)


@app.task(name="tasks.notice", bind=True)
def notice_publish(task: Any, row_id: str, *_args: Any, **_later: Any) -> None:
    """Send one notice if it is still due."""
    if leaves_it(task):
        return
    notice = Notice.objects.filter(pk=row_id).only("lake").first()
    if notice is None:
        return
    now = timezone.now()
    with bound(task="tasks.notice", notice=row_id, lake=notice.lake):
        try:
            notice_send(row_id, now=now, today=day_of(now, zone_of(notice.lake)))
        except (PortalError, DatabaseError):
            _log.exception("notice %s: left for the watchdog", row_id)
