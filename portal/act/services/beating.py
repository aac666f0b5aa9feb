"""How does a running act job learn of cancel, holds and the red button, and keep its lease?"""

from datetime import datetime

from portal.act.fence import LEASE_LENGTH, write_lease
from portal.act.selectors import holds_for_jobs, open_fences, red_button_state
from portal.act.services.reach import Place
from portal.runs.models import Run
from portal.runs.spools import open_spool


def act_beat(run: Run, *, now: datetime) -> None:
    """Write a run's control.json and renew the leases of its fences; safe to call at any time.

    A fence that was sealed is left alone: its lease is not written back.
    """
    button = red_button_state(run.lake)
    if run.spool:
        open_spool(run).write_control(
            {
                "cancel": bool(run.cancel_requested_by),
                "by": run.cancel_requested_by,
                "red_button": button.reason if button else "",
                "holds": holds_for_jobs(run.lake, now=now),
            }
        )
    for fence in open_fences(run.pk):
        if fence.epoch != run.epoch:
            continue
        place = Place.of(fence)
        if write_lease(place.fs, place.path, until=now + LEASE_LENGTH):
            fence.lease_until = now + LEASE_LENGTH
            fence.save(update_fields=["lease_until"])
