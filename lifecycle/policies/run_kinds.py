"""Run kinds and approval kind of policy requests. The platform drives them.

`lifecycle.policy` writes one request to the metastore; `lifecycle.policy_look` reads what stands
there, for a page that must show it, and daily what new tables of every database get.
"""

from datetime import datetime
from typing import Any

from django.utils import timezone

from lifecycle.models import PolicyRequest
from lifecycle.policies.domain.states import RequestKind
from lifecycle.policies.services.apply import policies_look, policy_apply, request_fail
from lifecycle.policies.services.exceptions import exception_approved
from lifecycle.policies.services.extensions import extension_approved
from lifecycle.policies.services.requests import POLICY_KIND, PolicyRequests
from portal.access.models import User
from portal.approvals.models import Approval
from portal.runs.domain import Schedule
from portal.runs.execution.settling import will_try_again
from portal.runs.kinds import registry as run_kinds
from portal.runs.models import Run
from portal.runs.requests.services import run_request

INSPECT_KIND = "lifecycle.policy_look"


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


class PolicyReadRunKind(run_kinds.RunKind):
    """Reads LEVEL, TTL and owner from the metastore."""

    name = INSPECT_KIND
    title = "Read policies"
    queue = "plan"
    schedule = Schedule(daily_at_hour=4)

    def execute(self, run: Run) -> dict[str, Any]:
        """Read them."""
        db, table = run.params.get("db", ""), run.params.get("table", "")
        return policies_look(run.lake, db=db, table=table, now=timezone.now())


def policy_inspection_request(lake: str, db: str, *, user: User, now: datetime) -> Run:
    """Ask what new tables of a database get; while one such run is under way, that one is given."""
    params = {"db": db}
    under_way = Run.objects.filter(lake=lake, kind=INSPECT_KIND, finished_at=None, subject_id=db)
    return under_way.first() or run_request(
        INSPECT_KIND,
        lake=lake,
        params=params,
        requested_by=user.username,
        reason="asked for on the page",
        subject=("database", db),
        now=now,
    )


def _request(run: Run) -> PolicyRequest:
    return PolicyRequest.objects.select_related("approval").get(pk=run.params["request"])


class GrantedRequests(PolicyRequests):
    """What follows the approval of a request; extensions and exceptions need no run."""

    def on_approved(self, proposal: PolicyRequest, approval: Approval, *, now: datetime) -> None:
        """Place the hold, let the exception stand, or have a run carry it out."""
        if proposal.kind == RequestKind.EXTEND:
            extension_approved(proposal, approval, now)
        elif proposal.kind == RequestKind.WAIVE:
            exception_approved(proposal, approval, now)
        else:
            super().on_approved(proposal, approval, now=now)


def register_policy_kinds() -> None:
    """Tell the platform of the runs and the approval of this file."""
    run_kinds.register(PolicyKind())
    run_kinds.register(PolicyReadRunKind())
    GrantedRequests().register()
