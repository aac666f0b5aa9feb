"""Requests a scan when events of the lake were missed.

A scan that began to read after an alarm was raised has seen whatever was missed; its ingest closes
the alarm (`scan.ScanKind.ingest`).
"""

from datetime import datetime

from lifecycle.inventory.services.scan import KIND
from portal.events.registry import Missed, Subscriber, subscribe
from portal.runs.requests.services import run_request

NAME = "lifecycle"


def on_missed(missed: Missed, now: datetime) -> None:
    """Ask for a scan of the lake, at most one an hour however much was missed."""
    run_request(
        KIND,
        lake=missed.lake,
        params={"now": now.isoformat()},
        requested_by="system",
        reason=f"Events were missed. {missed.reason}",
        unique_key=f"rescan:{missed.lake}:{now:%Y-%m-%dT%H}",
        now=now,
    )


def register_subscriber() -> None:
    """Tell the follower whom to ask for a rescan."""
    subscribe(Subscriber(NAME, types=None, handle=None, rescan=on_missed))
