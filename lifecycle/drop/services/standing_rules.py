"""Standing rules: two people pre-approve a table's daily drops, within caps, at most 90 days.

What is planned under a rule stands in `standing_plans`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from lifecycle.drop.domain import standing
from lifecycle.drop.selectors.standing import get_rule_for_user, rules_visible
from lifecycle.inventory.selectors.policy import table_policy
from lifecycle.models import (
    StandingRule,
    StandingRuleState,
    TableFinding,
)
from lifecycle.planning.services.parties import Basis, requesters_of, requesters_of_many
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.approvals.changes import Changes, Share
from portal.approvals.domain import ApprovalState, content_digest
from portal.approvals.models import Approval
from portal.approvals.proposals import ProposalKind
from portal.approvals.selectors import Steps
from portal.approvals.services import approval_check, approval_use
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, PortalError, RuleViolation, StaleState
from portal.lake.reasons import check_reason, check_text

APPROVAL_KIND = "lifecycle.standing_rule"
_CONTENT = (
    *("lake", "db", "table", "tbl_id", "level", "ttl", "owner"),
    *("max_items_day", "max_bytes_day", "starts_on", "until"),
)
_LIVE = (StandingRuleState.PENDING, StandingRuleState.ACTIVE)


class StandingRules(ProposalKind[StandingRule]):
    """Standing rules, as proposals; an approved one begins by `standing_rules_refresh`."""

    name = APPROVAL_KIND
    title = "Standing rule"
    model = StandingRule
    page = "lifecycle:standing-rule"
    transitions: ClassVar = {
        StandingRuleState.PENDING: frozenset(StandingRuleState) - {StandingRuleState.PENDING},
        StandingRuleState.ACTIVE: frozenset({StandingRuleState.ENDED}),
    }
    open_states = frozenset({StandingRuleState.PENDING})
    ends: ClassVar = {**ProposalKind.ends, ApprovalState.WITHDRAWN: StandingRuleState.ENDED}
    audited_as = "standing_rule"
    audits_moves = True
    reason_key = "note"
    closed = ("standing.closed", "This rule does not wait for a decision.")
    changed = ("standing.changed", "The rule is not the one that you read. Reload it.")
    moved_on = ("standing.state", "The rule has changed. Reload the page.")

    def get_for_user(self, proposal_id: UUID | str, *, user: User) -> StandingRule:
        """Return one rule, or raise NotVisible."""
        return get_rule_for_user(proposal_id, user=user)

    def visible(self, lake: str, user: User) -> QuerySet[StandingRule]:
        """Return the rules that a person may see."""
        return rules_visible(lake, user)

    def changes(self, proposal: StandingRule, user: User) -> Changes | None:
        """Compare what a rule may drop in a day with the last rule of its table."""
        rows = self.visible(proposal.lake, user).filter(
            db=proposal.db, table=proposal.table, created_at__lt=proposal.created_at
        )
        last = rows.order_by("-created_at").first()
        if last is None:
            return None
        now, before = (Share(1, one.max_items_day, one.max_bytes_day) for one in (proposal, last))
        return Changes(last, self.url_of(last), now=now, before=before)

    def digest_of(self, proposal: StandingRule) -> str:
        """Return the digest of what the rule says now."""
        return rule_digest(proposal)

    def requesters(self, proposal: StandingRule) -> Collection[str]:
        """Return its maker, and whoever last changed what it rests on."""
        tables = [(proposal.db, proposal.table)]
        return requesters_of(proposal.lake, maker=proposal.requested_by, tables=tables, wishes=())

    def requesters_of(self, proposals: Sequence[StandingRule]) -> Mapping[UUID, Collection[str]]:
        """Return the same of many."""
        bases = {one.pk: Basis(one.requested_by, [(one.db, one.table)]) for one in proposals}
        return requesters_of_many(proposals[0].lake, bases) if proposals else {}

    def columns(
        self, proposal: StandingRule, to: str, *, by: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Return who ended it, when and why."""
        ended = to not in _LIVE
        return {
            "last_note": reason,
            "ended_at": now if ended else None,
            "ended_by": by if ended else "",
        }

    def steps(self, proposal: StandingRule, user: User, *, now: datetime) -> Steps:
        """Return what a person may do; who may end a rule need not withdraw it."""
        may_end = user.is_lake_admin_of(proposal.lake) or user.username == proposal.requested_by
        found = super().steps(proposal, user, now=now)
        return replace(found, withdraw=proposal.state in _LIVE and may_end)

    def on_approved(self, proposal: StandingRule, approval: Approval, *, now: datetime) -> None:
        """Do nothing yet: it begins when its cooling-off is over."""


RULES = StandingRules()
standing_rule_decide = RULES.decide


@dataclass(frozen=True, slots=True)
class RuleParams:
    """What a person wants a standing rule to say."""

    db: str
    table: str
    max_items_day: int
    max_bytes_day: int
    until: date
    reason: str


def _require_maker(user: User, lake: str) -> None:
    if not user.is_lake_staff_of(lake):
        raise NotAllowed("standing.role", "Admins and operators ask for standing rules.")


@transaction.atomic
def standing_rule_request(
    lake: str, wish: RuleParams, *, user: User, now: datetime
) -> StandingRule:
    """Ask two people for a standing rule; a table has at most one that waits or is active."""
    _require_maker(user, lake)
    check_reason(wish.reason, "standing.reason", "Enter a reason for the standing rule.")
    table = TableFinding.objects.current(lake).filter(db=wish.db, table=wish.table).first()
    if table is None:
        raise RuleViolation("standing.table", f"The last scan saw no table {wish.db}.{wish.table}.")
    basis = basis_of(table)
    rule = StandingRule(
        lake=lake,
        db=wish.db,
        table=wish.table,
        tbl_id=table.tbl_id,
        level=basis.level,
        ttl=basis.ttl,
        owner=basis.owner,
        max_items_day=wish.max_items_day,
        max_bytes_day=wish.max_bytes_day,
        starts_on=day_of(now, get_lake(lake).zone),
        until=wish.until,
        requested_by=user.username,
        reason=wish.reason.strip(),
        created_at=now,
    )
    rule.digest = rule_digest(rule)
    standing.check_rule(rule_terms(rule))
    if StandingRule.objects.filter(
        lake=lake, db=wish.db, table=wish.table, state__in=_LIVE
    ).exists():
        raise StaleState("standing.exists", "This table has a standing rule already. End it first.")
    rule.save()
    names = {(wish.db, wish.table)}
    requesters = requesters_of(lake, maker=user.username, tables=names, wishes=())
    rule.approval = RULES.open(
        rule,
        requesters=requesters,
        summary={"title": f"Standing rule for {wish.db}.{wish.table}", "reason": rule.reason},
        now=now,
    )
    rule.save(update_fields=["approval"])
    RULES.audit("requested", rule, actor=user.username, now=now, content=_content(rule))
    return rule


def rule_digest(rule: StandingRule) -> str:
    """Return the sha256 of what a rule says; what is approved is exactly that."""
    return content_digest(_content(rule))


def _content(rule: StandingRule) -> dict[str, str | int | None]:
    values = {name: getattr(rule, name) for name in _CONTENT}
    return {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in values.items()
    }


def basis_of(table: TableFinding) -> standing.Basis:
    """Return LEVEL, TTL and owner of a table as far as the portal knows them now."""
    known = table_policy(table)
    return standing.Basis(known.values.level, known.values.ttl, known.owner)


def rule_check(rule: StandingRule, *, also_requesters: Collection[str], now: datetime) -> None:
    """Refuse unless a rule, as it is, covers drops of its table as the table is now.

    `also_requesters` are the requesters of the day's plan: their approval of the rule does not
    count for it.

    Raises:
        StaleState: not active, over, of another policy or owner, or too few approvers are left.
    """
    if rule.state != StandingRuleState.ACTIVE:
        raise StaleState("plan.not_approved", "The standing rule is not active.")
    if day_of(now, get_lake(rule.lake).zone) > rule.until:
        raise StaleState("standing.over", "The standing rule behind this plan is over.")
    tables = TableFinding.objects.current(rule.lake).filter(db=rule.db, table=rule.table)
    table = tables.select_related("generation").first()
    if table is None:
        raise StaleState("standing.table", "The last scan did not see the rule's table.")
    reason = standing.reason_of_other_basis(rule_terms(rule).basis, basis_of(table))
    if reason:
        raise StaleState("standing.policy", reason)
    approval_check(
        APPROVAL_KIND,
        object_id=str(rule.pk),
        digest=rule_digest(rule),
        now=now,
        run_id=str(rule.pk),
        also_requesters=also_requesters,
    )


def rule_terms(rule: StandingRule) -> standing.StandingRule:
    """Return the rule as the domain reads it."""
    return standing.StandingRule(
        tbl_id=rule.tbl_id,
        basis=standing.Basis(rule.level, rule.ttl, rule.owner),
        max_items=rule.max_items_day,
        max_bytes=rule.max_bytes_day,
        starts_on=rule.starts_on,
        ends_on=rule.until,
    )


@transaction.atomic
def standing_rule_end(
    rule_id: UUID | str, *, user: User, reason: str, now: datetime
) -> StandingRule:
    """End a rule before its day: its maker or an admin. Plans under it stop before they start."""
    rule = get_rule_for_user(rule_id, user=user)
    if user.username != rule.requested_by and not user.is_lake_admin_of(rule.lake):
        raise NotAllowed("standing.end", "Only its maker or an admin may end a standing rule.")
    check_text(reason)
    # As it is now: it may have begun since it was read, and is ended all the same.
    rule = StandingRule.objects.select_for_update().get(pk=rule.pk)
    RULES.move(rule, StandingRuleState.ENDED, by=user.username, reason=reason, now=now)
    return rule


def standing_rules_refresh(lake: str, *, now: datetime) -> None:
    """Let approved rules begin when their cooling-off is over, and end those whose day has come."""
    today = day_of(now, get_lake(lake).zone)
    for rule in StandingRule.objects.filter(lake=lake, state__in=_LIVE).select_related("approval"):
        if rule.until < today:
            reason = "Its last day is over."
            RULES.move(rule, StandingRuleState.ENDED, by="system", reason=reason, now=now)
        elif rule.state == StandingRuleState.PENDING:
            _activate(rule, now=now)


def _activate(rule: StandingRule, *, now: datetime) -> None:
    approval = rule.approval
    if approval is None or approval.state != ApprovalState.APPROVED:
        return
    if approval.cool_until is None or approval.cool_until > now:
        return
    try:
        with transaction.atomic():
            if rule_digest(rule) != approval.digest:
                raise StaleState("standing.changed", "The rule is not the one that was approved.")
            approval_use(approval.pk, run_id=str(rule.pk), now=now)
            RULES.move(rule, StandingRuleState.ACTIVE, now=now)
    except PortalError as error:
        StandingRule.objects.filter(pk=rule.pk).update(last_note=error.message)


def standing_rules_live(lake: str) -> bool:
    """Whether a rule waits or is active."""
    return StandingRule.objects.filter(lake=lake, state__in=_LIVE).exists()
