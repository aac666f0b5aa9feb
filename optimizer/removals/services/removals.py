"""Moves removal lists through their approval, up to their end.

A list comes from the job that drew it up; two people who neither asked for it nor set the policy
approve exactly its digest. Each step is one transaction that moves the plan by compare-and-set,
and its task with it. The locks are taken in the order approval, plan, task.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.models import OptimizeTask, PolicyVersion, RemovalPlan
from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat
from optimizer.policies.selectors.policies import levels_of, versions_in
from optimizer.removals.domain.states import OPEN, TRANSITIONS, RemovalState
from optimizer.removals.selectors import get_removal_for_user, is_held, removals_visible
from optimizer.removals.services.records import deleted_by
from portal.access.models import User
from portal.approvals.changes import Changes, Share
from portal.approvals.models import Approval
from portal.approvals.proposals import ProposalKind
from portal.approvals.rows import named
from portal.approvals.selectors import Steps
from portal.approvals.sizes import plan_needed

APPROVAL_KIND = "optimizer.removal"
DECIDES = frozenset(
    {"is_on", "kinds", "expire_days", "keep_snapshots", "orphan_days", "quarantine_days"}
    | {"lock", "clean_commits", "ttl_days", "stuck_minutes"}
)
"""Fields of a policy by which something goes: who wrote them does not approve."""
_BY_ITSELF = "lakewarden"
_COUNTS = ("n_items", "n_files", "n_bytes")
_FACTS = ("files", "stays", "oldest_at", "newest_at", "sample", "file_sample", "left", "notes",
          "quarantine_days")  # fmt: skip


class Removals(ProposalKind[RemovalPlan]):
    """Removal lists, as proposals; their tasks follow them."""

    name = APPROVAL_KIND
    title = "Removal from a table"
    model = RemovalPlan
    page = "optimizer:removal"
    transitions = TRANSITIONS
    audited_as = "removal"
    system = _BY_ITSELF
    closed = ("removal.closed", "This list does not wait for a decision any more.")
    changed = ("removal.stale", "The list is not the one that was read or approved. Reload it.")
    moved_on = (
        "removal.state",
        "The list has changed since this page was loaded. Reload it.",
    )
    no_reason = ("removal.reject_reason", "Enter a reason; the owners read it.")

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> RemovalPlan:
        """Return one list, or raise NotVisible."""
        return get_removal_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[RemovalPlan]:
        """Return the lists of tables that a person may see."""
        return removals_visible(lake, user)

    def about(
        self, proposals: QuerySet[RemovalPlan], text: str, user: User
    ) -> QuerySet[RemovalPlan]:
        """Keep those of a table of such a name, of whichever format."""
        return proposals.filter(named(text, "table__") | named(text, "hudi__"))

    def changes(self, proposal: RemovalPlan, user: User) -> Changes | None:
        """Compare a list with the last one of the same kind of its table."""
        rows = self.visible(self.lake_of(proposal), user).filter(
            kind=proposal.kind,
            table=proposal.table_id,
            hudi=proposal.hudi_id,
            created_at__lt=proposal.created_at,
        )
        last = rows.order_by("-created_at").first()
        if last is None:
            return None
        now, before = (Share(1, one.n_items, one.n_bytes) for one in (proposal, last))
        unit = proposal.listed[1]
        return Changes(last, self.url_of(last), unit=unit, now=now, before=before)

    def lake_of(self, proposal: RemovalPlan) -> str:
        """Return the lake of its table."""
        return proposal.subject.lake

    def proposal_of(self, approval: Approval) -> RemovalPlan:
        """Return the list with its table."""
        return RemovalPlan.objects.select_related("table", "hudi").get(pk=approval.object_id)

    def requesters(self, proposal: RemovalPlan) -> Collection[str]:
        """Return who wrote the policy by which something goes, as it stands now."""
        return self.requesters_of([proposal])[proposal.pk]

    def requesters_of(self, proposals: Sequence[RemovalPlan]) -> Mapping[UUID, Collection[str]]:
        """Return the same of many; the policies of a lake are read once for each table format."""
        levels, versions = {}, {}
        for one in proposals:
            table, about = one.subject, TableFormat(one.table_format)
            if (table.lake, about) not in levels:
                levels[table.lake, about] = levels_of(table.lake, about)
            rows, ids = levels[table.lake, about]
            found = POLICY_SCHEMAS[about].resolve(rows, db=table.db, table=table.table)
            versions[one.pk] = versions_in(found, ids)
        said = PolicyVersion.objects.in_bulk({pk for keys in versions.values() for pk in keys})
        return {
            one: {said[pk].by for pk in keys if DECIDES & said[pk].values.keys()}
            for one, keys in versions.items()
        }

    def columns(
        self, proposal: RemovalPlan, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return who ended it, and what came of it."""
        return {} if to in OPEN else {"ended_at": now, "ended_by": by, "outcome": reason}

    def facts(self, proposal: RemovalPlan) -> dict[str, Any]:
        """Return what every audit event of a list says."""
        table = str(proposal.subject)
        return {"digest": proposal.digest, "kind": proposal.kind, "table": table}

    def other_steps(self, proposal: RemovalPlan, user: User) -> Steps:
        """Return whether its files can be brought back."""
        return Steps(bring_back=is_held(proposal))

    def on_approved(self, proposal: RemovalPlan, approval: Approval, *, now: datetime) -> None:
        """Let its task wait for the cooling-off."""
        self.move(proposal, RemovalState.APPROVED, now=now)
        OptimizeTask.objects.filter(pk=proposal.task_id, state=TaskState.TO_APPROVE).update(
            waits_for="Approved. What is on the list goes after the cooling-off time."
        )
        self.audit("approved", proposal, actor=_BY_ITSELF, now=now)

    def end(self, proposal: RemovalPlan, to: str, *, by: str, reason: str, now: datetime) -> None:
        """End a list that people did not approve or use in time, and its task with it."""
        super().end(proposal, to, by=by, reason=reason, now=now)
        words = f"{to.capitalize()} by {by}: {reason}"
        end_task(proposal, code=f"removal.{to.lower()}", reason=words, now=now)


REMOVALS = Removals()
removal_decide = REMOVALS.decide
removal_withdraw = REMOVALS.withdraw
removal_move = REMOVALS.move


def removal_propose(
    task: OptimizeTask, proposal: Mapping[str, Any], *, now: datetime
) -> RemovalPlan:
    """Show a list that a job drew up to people; inside the caller's transaction."""
    plan = RemovalPlan(
        table=task.iceberg,
        task=task,
        kind=task.kind,
        digest=str(proposal["digest"]),
        items_uri=str(proposal["uri"]),
        snapshot_id=proposal.get("snapshot_id"),
        facts={name: proposal[name] for name in _FACTS if name in proposal},
        **{name: int(proposal[name]) for name in _COUNTS},
    )
    return removal_open(task, plan, now=now)


def removal_open(task: OptimizeTask, plan: RemovalPlan, *, now: datetime) -> RemovalPlan:
    """Ask people about a plan that was not kept yet; its task waits for them from now on."""
    table = task.subject
    plan.requesters, plan.reason, plan.created_at = _requesters(task), task.reason, now
    plan.approval = REMOVALS.open(
        plan,
        requesters=plan.requesters,
        summary={"kind": plan.kind, "table": str(table), **_counted(plan)},
        # As for plans that drop: a big list needs more people.
        n_needed=plan_needed(table.lake, n_items=plan.n_files, n_bytes=plan.n_bytes).n,
        now=now,
    )
    plan.save()
    task.state, task.run, task.started_at = TaskState.TO_APPROVE, None, None
    task.waits_for = f"A list of what would go waits for {plan.approval.n_needed} people."
    task.save(update_fields=["state", "run", "started_at", "waits_for"])
    REMOVALS.audit("proposed", plan, actor=plan.requesters[0], now=now, **_counted(plan))
    return plan


def removal_ended(task: OptimizeTask, result: Mapping[str, Any], *, now: datetime) -> None:
    """Write what came of the list that a task removed; inside the caller's transaction."""
    plan = _running(task)
    if plan is None:
        return
    outcome = TaskState(str(result["outcome"]))
    to = {
        TaskState.DONE: RemovalState.DONE,
        TaskState.PARTIAL: RemovalState.PARTIAL,
        TaskState.NOTHING: RemovalState.NOTHING,
    }.get(outcome, RemovalState.FAILED)
    removed = dict(result.get("removed") or {})
    removal_move(plan, to, now=now, reason=str(result.get("reason", "")), removed=removed)
    REMOVALS.audit("ended", plan, actor=_BY_ITSELF, now=now, state=str(to), removed=removed)


def removal_lost(task: OptimizeTask, *, reason: str, now: datetime) -> None:
    """End the list of a task whose run ended without a word: its approval is used up.

    What the run had deleted by then is recorded with it.
    """
    plan = _running(task)
    if plan is None:
        return
    told = deleted_by(plan)
    outcome = f"{reason} The approval is used up: what is left needs a new list."
    removed = {"n_items": 0, "n_files": told.n_files, "n_bytes": told.n_bytes, "files": {}}
    if told.n_files and plan.kind == TaskKind.ORPHANS:
        removed["n_items"] = told.n_files
    removal_move(
        plan,
        RemovalState.FAILED,
        now=now,
        reason=f"{outcome} {told.words}".rstrip(),
        removed=removed if told.n_files else {},
    )
    REMOVALS.audit("lost", plan, actor=_BY_ITSELF, now=now, reason=reason, n_files=told.n_files)


def end_task(plan: RemovalPlan, *, code: str, reason: str, now: datetime) -> None:
    """Take the task of a list that will not be acted on out of the queue."""
    OptimizeTask.objects.filter(pk=plan.task_id, state=TaskState.TO_APPROVE).update(
        state=TaskState.CANCELLED,
        is_open=None,
        ended_at=now,
        outcome_code=code,
        outcome=reason,
        waits_for="",
    )


def _requesters(task: OptimizeTask) -> list[str]:
    """Return who asked, and who wrote the policy by which something goes."""
    asked = [task.requested_by] if task.requested_by else []
    wrote = _writers(task.policy_versions) - set(asked)
    return [*asked, *sorted(wrote)] or [_BY_ITSELF]


def _writers(versions: Iterable[int]) -> set[str]:
    """Return who wrote what decides over a removal in these versions of policies."""
    rows = PolicyVersion.objects.filter(pk__in=versions)
    return {one.by for one in rows if DECIDES & one.values.keys()}


def _running(task: OptimizeTask) -> RemovalPlan | None:
    plans = task.removals.select_for_update().filter(state=RemovalState.RUNNING)
    return plans.first()


def _counted(plan: RemovalPlan) -> dict[str, int]:
    return {name: getattr(plan, name) for name in _COUNTS}
