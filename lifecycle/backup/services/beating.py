"""Tells a running act job of cancel, holds and the emergency stop, and renews its lease."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from lifecycle.backup.domain.control import HOLDS_FILE
from lifecycle.backup.selectors import holds_for_jobs, holds_version, open_fences
from lifecycle.backup.services.reach import Place
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.safety.fence import LEASE_LENGTH, write_lease
from portal.safety.selectors import emergency_stop_state
from portal.spark.spool import Spool

# The file of holds that this process wrote last, by spool, with the version that it tells.
_written: dict[str, tuple[tuple[int, ...], str]] = {}
_MOST_SPOOLS = 100


def act_beat(run: Run, *, now: datetime, closed: Iterable[str] = ()) -> None:
    """Write a run's control.json and renew the leases of its fences; safe to call at any time.

    A fence that was sealed is left alone: its lease is not written back. Nothing is acted on in the
    databases that are `closed` by now: to the job each is one more hold.
    """
    button = emergency_stop_state(run.lake)
    if run.spool:
        spool = open_spool(run)
        spool.write_control(
            {
                "cancel": bool(run.cancel_requested_by),
                "by": run.cancel_requested_by,
                "red_button": (button.reason or "pressed") if button else "",
                HOLDS_FILE: _write_holds(spool, run.lake, now=now),
                "closed": [*map(_hold_on, closed)],
            }
        )
    for fence in open_fences(run.pk):
        if fence.epoch != run.epoch:
            continue
        place = Place.of(fence)
        if write_lease(place.fs, place.path, until=now + LEASE_LENGTH):
            fence.lease_until = now + LEASE_LENGTH
            fence.save(update_fields=["lease_until"])


def _write_holds(spool: Spool, lake: str, *, now: datetime) -> str:
    """Write the standing holds where they changed; give the name of the file that tells them."""
    version = holds_version(lake, now=now)
    if not version[0]:
        return ""
    written = _written.get(str(spool.root))
    if written is not None and written[0] == version:
        return written[1]
    holds = {"holds": holds_for_jobs(lake, now=now)}
    digest = hashlib.sha256(json.dumps(holds).encode()).hexdigest()
    name = f"holds-{digest[:16]}.json"
    spool.write_part(name, holds)
    _remember(str(spool.root), (version, name))
    return name


def _remember(spool: str, written: tuple[tuple[int, ...], str]) -> None:
    _written.pop(spool, None)
    while len(_written) >= _MOST_SPOOLS:
        _written.pop(next(iter(_written)))
    _written[spool] = written


def _hold_on(db: str) -> dict[str, Any]:
    reason = f"database {db} is not in Enforce mode any more"
    return {"db": db, "table": "", "until": None, "reason": reason, "partitions": []}
