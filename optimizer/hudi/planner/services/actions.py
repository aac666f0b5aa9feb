"""Requests on a Hudi table: a service step now, a pause, and a dry run.

Owners of a table, administrators of its database and admins and operators may; the rules that keep
writer and services apart hold for them too. All of it is audited.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict, Unpack

from optimizer.core.services.actions import (
    Asked,
    check_maintained,
    parse_reason,
    table_pause,
    table_resume,
    task_ask,
)
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.maintenance.domain.requests import wish_of
from optimizer.hudi.maintenance.domain.tasks import HudiTask, Service, Step, task_name
from optimizer.hudi.planner.domain.deciding import HudiDecision, precedence
from optimizer.hudi.planner.services.planner import decision_of, inspection_of_table, listed_first
from optimizer.hudi.planner.services.recent_runs import recent_activity_of
from optimizer.hudi.planner.services.speeds import HudiSpeeds
from optimizer.models import HudiTable, OptimizeTask
from optimizer.policies.domain.hudi_policy import HudiPolicy
from optimizer.policies.selectors.hudi_policies import hudi_policies_of
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible, StaleState


class Asking(TypedDict):
    """Who asks (None: whoever stands at the shell), why, and when."""

    user: User | None
    reason: str
    now: datetime


def service_ask(
    table_id: int,
    *,
    service: Service,
    step: Step,
    instants: Sequence[str] = (),
    **asking: Unpack[Asking],
) -> OptimizeTask:
    """Queue a step of a service for the next run, whatever blackout windows and budget say.

    Without `instants` it takes all that are pending, oldest first. What has to be approved is
    listed first, and the task that comes back is the one that draws the list up. An open task of
    the kind is put first instead of a second one.

    Raises:
        NotVisible: `optimizer.hudi`; RuleViolation: `optimizer.reason`, `hudi.` and the rule that
        forbids it; StaleState: `optimizer.gone`, `optimizer.paused`, `hudi.not_looked_at`,
        `hudi.not-pending`, `hudi.nothing`, `optimizer.running`, `optimizer.to_approve`.
    """
    user, now = asking["user"], asking["now"]
    row = _row(table_id, user)
    reason = parse_reason(asking["reason"])
    check_maintained(row)
    look, policies = _look(row), hudi_policies_of(row.lake)
    found = policies.of(row.db, row.table)
    lately = recent_activity_of(row, look, now=now)
    wish = HudiTask(service, step, reason, tuple(instants))
    allowed = wish_of(look, found.policy, wish, lately=lately, now=now)
    one = listed_first(allowed)
    asked = Asked(
        one.name,
        one.reason,
        f"What {one.service} of {row} would take away",
        {
            "instants": list(one.instants) or None,
            "score": precedence(one.service, one.step),
            "policy_versions": list(policies.versions(found)),
            "estimate": HudiSpeeds(row.lake).estimate_plans(look, one.name, one.instants),
        },
        beside=[task_name(one.service, Step.EXECUTE)],
        audit={"instants": list(one.instants)},
    )
    return task_ask(row, asked, user=user, now=now)


def hudi_pause(table_id: int, *, user: User | None, reason: str, now: datetime) -> HudiTable:
    """Have nothing begun on a table until it is resumed; a run under way goes on.

    Raises:
        NotVisible: `optimizer.hudi`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.paused`.
    """
    row = _row(table_id, user)
    table_pause(row, user=user, reason=reason, now=now)
    return row


def hudi_resume(table_id: int, *, user: User | None, reason: str, now: datetime) -> HudiTable:
    """Let a paused table be served again, and have it looked at.

    Raises:
        NotVisible: `optimizer.hudi`; RuleViolation: `optimizer.reason`;
        StaleState: `optimizer.not_paused`.
    """
    row = _row(table_id, user)
    table_resume(row, user=user, reason=reason, now=now)
    return row


def hudi_explain(table_id: int, user: User | None, now: datetime) -> HudiDecision:
    """Say what would be done to a table now, and of everything else why not; begins nothing.

    Raises:
        NotVisible: `optimizer.hudi`; StaleState: `hudi.not_looked_at`.
    """
    row = _row(table_id, user)
    policy: HudiPolicy = hudi_policies_of(row.lake).of(row.db, row.table).policy
    return decision_of(row, _look(row), policy, now)


def _row(table_id: int, user: User | None) -> HudiTable:
    rows = HudiTable.objects.all() if user is None else HudiTable.objects.filter(visible_to(user))
    found = rows.filter(pk=table_id).first()
    if found is None:
        raise NotVisible("optimizer.hudi", "There is no such Hudi table for you.", table=table_id)
    return found


def _look(row: HudiTable) -> HudiInspection:
    look = inspection_of_table(row)
    if look is None:
        raise StaleState(
            "hudi.not_looked_at",
            f"{row} has not been inspected yet, so nothing is known of what it needs. An "
            "inspection is "
            "due; ask again in some minutes.",
        )
    return look
