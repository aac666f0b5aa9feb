"""Handles a DROP of something restored: a run checks it and adds it again (journal.md J4).

A client that froze between its last check and its call can drop after a takeover and a restore.
The subscriber only writes a run; the run asks the catalogue, which knows what was restored.
"""

from datetime import datetime
from typing import Any, ClassVar

from django.utils import timezone

from lifecycle.backup.selectors import repairable_batches
from lifecycle.backup.services.repairing import drop_repair
from portal.events.messages import LakeEvent
from portal.events.registry import Subscriber, subscribe
from portal.runs.kinds import registry as kinds
from portal.runs.models import Run
from portal.runs.requests.services import run_request

NAME = "events.repair"


class DropRepairKind(kinds.RunKind):
    """Looks at one DROP event that names a table of which something was restored."""

    name: ClassVar[str] = NAME
    title: ClassVar[str] = "Check a drop of restored data"
    queue: ClassVar[str] = "restore"

    def execute(self, run: Run) -> dict[str, Any]:
        """Have the restored items added again that the drop took; gives their names."""
        params = run.params
        added = drop_repair(
            run.lake,
            db=params["db"],
            table=params["table"],
            partitions=params["partitions"],
            now=timezone.now(),
        )
        return {"added_again": added}


def on_drop(event: LakeEvent, now: datetime) -> None:
    """Ask for a look when the catalogue knows of something restored there; once per event."""
    if repairable_batches(event.lake, event.db, event.table, now=now).exists():
        run_request(
            NAME,
            lake=event.lake,
            params={"db": event.db, "table": event.table, "partitions": list(event.partitions)},
            requested_by="system",
            reason=f"{event.type} event {event.id}",
            unique_key=f"{NAME}:{event.lake}:{event.id}",
            subject=("table", f"{event.db}.{event.table}"),
            now=now,
        )


def register_repair() -> None:
    """Make the run kind and the subscriber known."""
    kinds.register(DropRepairKind())
    subscribe(Subscriber(NAME, frozenset({"DROP_PARTITION", "DROP_TABLE"}), on_drop))
