"""Run kinds and approval kind of policy requests. The platform drives them.

`lifecycle.policy` writes one request to the metastore; `lifecycle.policy_look` reads what stands
there, for a page that must show it, and daily what new tables of every database get.
"""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from lifecycle.models import PolicyRequest
from lifecycle.policies.domain.states import RequestKind, RequestState
from lifecycle.policies.services.apply import policies_look, policy_apply, request_fail
from lifecycle.policies.services.extensions import extension_approved
from lifecycle.policies.services.requests import (
    APPROVAL_KIND,
    POLICY_KIND,
    request_move,
    request_start,
)
from lifecycle.policies.services.waivers import waiver_approved
from portal.access.models import User
from portal.approvals import kinds as approval_kinds
from portal.approvals.models import Approval
from portal.lake.errors import StaleState
from portal.runs.domain import Schedule
from portal.runs.execution.settling import will_try_again
from portal.runs.kinds import registry as run_kinds
from portal.runs.models import Run
from portal.runs.requests.services import run_request

LOOK_KIND = "lifecycle.policy_look"


class PolicyKind(run_kinds.RunKind):
    """Writes another LEVEL, TTL or owner to the metastore."""

    name = POLICY_KIND
    title = "Change a policy"
    queue = "plan"

    def execute(self, run: Run) -> dict[str, Any]:
        """Carry the request out."""
        return policy_apply(_request(run), run, now=timezone.now())

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """End the request when its run did not get through."""
        if manifest["outcome"] != "done" and not will_try_again(self, run, manifest):
            request_fail(_request(run), manifest.get("error") or {}, now=timezone.now())


class PolicyLookKind(run_kinds.RunKind):
    """Reads LEVEL, TTL and owner from the metastore."""

    name = LOOK_KIND
    title = "Read policies"
    queue = "plan"
    schedule = Schedule(daily_at_hour=4)

    def execute(self, run: Run) -> dict[str, Any]:
        """Read them."""
        db, table = run.params.get("db", ""), run.params.get("table", "")
        return policies_look(run.lake, db=db, table=table, now=timezone.now())


def policy_look_request(lake: str, db: str, *, user: User, now: datetime) -> Run:
    """Ask what new tables of a database get; while one such run is under way, that one is given."""
    params = {"db": db}
    under_way = Run.objects.filter(lake=lake, kind=LOOK_KIND, finished_at=None, subject_id=db)
    return under_way.first() or run_request(
        LOOK_KIND,
        lake=lake,
        params=params,
        requested_by=user.username,
        reason="asked for on the page",
        subject=("database", db),
        now=now,
    )


def _request(run: Run) -> PolicyRequest:
    return PolicyRequest.objects.select_related("approval").get(pk=run.params["request"])


def _of(approval: Approval) -> PolicyRequest:
    return PolicyRequest.objects.get(pk=approval.object_id)


def _lock(approval: Approval) -> None:
    """Lock the request right after its approval."""
    PolicyRequest.objects.select_for_update().filter(pk=approval.object_id).first()


def _approved(approval: Approval, now: datetime) -> None:
    request = _of(approval)
    if request.digest != approval.digest:
        raise StaleState("policy_request.changed", "The request is not what was approved.")
    if request.kind == RequestKind.EXTEND:
        extension_approved(request, approval, now)
    elif request.kind == RequestKind.WAIVE:
        waiver_approved(request, approval, now)
    else:
        by = approval.decisions.order_by("at").values_list("user__username", flat=True)
        request_start(request, by=", ".join(by), now=now)


def _follow(to: RequestState) -> approval_kinds.Hook:
    def hook(approval: Approval, now: datetime) -> None:
        refused = approval.decisions.filter(verdict="REJECT").select_related("user").first()
        by = refused.user.username if refused else ""
        request_move(_of(approval), to, by=by, note=approval.end_reason, now=now)

    return hook


def register_policy_kinds() -> None:
    """Tell the platform of the runs and the approval of this file.

    No cooling-off: nothing is destroyed, and what is set can be set back.
    """
    run_kinds.register(PolicyKind())
    run_kinds.register(PolicyLookKind())
    approval_kinds.register(
        approval_kinds.ApprovalKind(
            name=APPROVAL_KIND,
            title="Policy request",
            lock_object=_lock,
            on_approved=_approved,
            on_rejected=_follow(RequestState.REJECTED),
            on_lapsed=_follow(RequestState.LAPSED),
            on_withdrawn=_follow(RequestState.WITHDRAWN),
            cooling_off=timedelta(0),
        )
    )
