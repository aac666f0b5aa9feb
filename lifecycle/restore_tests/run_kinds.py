"""Run kinds of restore tests."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from lifecycle.backup.services.beating import act_beat
from lifecycle.restore_tests.domain import is_due
from lifecycle.restore_tests.services.alarms import restore_test_failed_queue
from lifecycle.restore_tests.services.restore_tests import (
    KIND,
    restore_test_begin,
    restore_test_every,
    restore_test_last_begun,
    restore_test_params,
    restore_test_wanted,
)
from lifecycle.restore_tests.services.results import restore_test_ingest
from portal.access.roles.domain import STAFF
from portal.runs.domain import Schedule
from portal.runs.execution.settling import will_try_again
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_wait


class RestoreTestKind(RunKind):
    """Restores a sample of the backups into a scratch database, compares and clears it.

    It is no acting kind: it has no fence, takes no backup and moves nothing of anybody's. One whose
    job died or lost a system is tried once more; the second attempt clears what the first left.
    """

    name = KIND
    job = "lifecycle.restore_tests.jobs.restore_test"
    title = "Restore test"
    queue = "restore"
    attempts = 2
    start_roles = STAFF
    schedule = Schedule(daily_at_hour=5)

    def scheduled_params(self, lake: str, *, now: datetime) -> dict[str, Any] | None:
        """Wanted on the day on which the last one is old enough, and where there is a backup."""
        if not is_due(restore_test_last_begun(lake), now=now, every=restore_test_every()):
            return None
        return {"now": now.isoformat()} if restore_test_wanted(lake, now=now) else None

    def waits(self, run: Run, *, now: datetime) -> str:
        """Wait while the emergency stop is on.

        A restore test writes to the lake, though to its own only.
        """
        return emergency_stop_wait(run.lake)

    def prepare(self, run: Run) -> None:
        """Draw the sample; asked again it is the same."""
        restore_test_begin(run, now=timezone.now())

    def request(self, run: Run) -> dict[str, Any]:
        """Return the job the drawn batches."""
        return restore_test_params(restore_test_begin(run, now=timezone.now()))

    def beat(self, run: Run) -> None:
        """Tell the job of cancel and the emergency stop."""
        act_beat(run, now=timezone.now())

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Store the result, and notify admins and operators of what would not come back."""
        if will_try_again(self, run, manifest):
            return
        now = timezone.now()
        restore_test = restore_test_ingest(run, manifest, now=now)
        if restore_test is not None:
            restore_test_failed_queue(restore_test, now=now)


def register_restore_test_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(RestoreTestKind())
