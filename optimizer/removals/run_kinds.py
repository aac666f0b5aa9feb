"""The base of runs that remove what people approved: they act under a lease and a fence."""

from typing import Any

from django.utils import timezone

from optimizer.removals.domain.papers import ACTING
from optimizer.removals.services.fences import fence_beat, fence_settle
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.safety.selectors import red_button_wait


class FencedKind(RunKind):
    """A run that deletes: it has a lease, and is settled like every run that acts."""

    acting = True

    def request(self, run: Run) -> dict[str, Any]:
        """Tell the job that it acts under the run's lease."""
        return {**super().request(run), ACTING: True}

    def beat(self, run: Run) -> None:
        """Pass a stop on, then renew the lease."""
        pressed = red_button_wait(run.lake)
        if pressed and run.spool:
            open_spool(run).write_control({"cancel": True, "by": "red button", "why": pressed})
        else:
            super().beat(run)
        fence_beat(run, now=timezone.now())

    def settle(self, run: Run) -> None:
        """Seal what the run could act on."""
        fence_settle(run, now=timezone.now())
