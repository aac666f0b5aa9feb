"""Drives a run to its end as an application of YARN, and asks YARN that it was one."""

from contextlib import nullcontext
from typing import Any

from django.utils import timezone

from optimizer.models import PolicyVersion
from portal.runs.execution.applications import applications_of
from portal.runs.models import Run
from portal.runs.records.spools import log_file
from portal.runs.requests.services import run_drive, run_request
from tests.clusters.whole.held import Hold
from tests.support.plan_story import LAKE


def driven(run: Run, *, queue: str = "root.default", hold: Hold | None = None) -> Run:
    """Return the run as it ended: done, by one application of that queue, held midway if asked."""
    with hold.of(run) if hold else nullcontext():
        ended = run_drive(run.pk)
    said = log_file(ended)
    log = said.read_text("utf-8", errors="replace")[-20000:] if said.exists() else ""
    assert ended.state == "DONE", f"{ended.error}\n{log}"
    on_yarn = [(one.state, one.queue) for one in applications_of(ended)]
    assert on_yarn == [("FINISHED", queue)]
    return ended


def asked(kind: str, params: dict[str, Any]) -> Run:
    """Request a run as the schedule does."""
    now = timezone.now()
    return run_request(kind, lake=LAKE, params=params, requested_by="schedule", now=now)


def policy(**values: object) -> None:
    """Let everything of a format be looked after."""
    now = timezone.now()
    PolicyVersion.objects.create(
        lake=LAKE, scope="*", version=1, by="a", at=now, reason="t", **values
    )
