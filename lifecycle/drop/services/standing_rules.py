"""Standing rules: two people pre-approve a table's daily drops, within caps, at most 90 days.

What is planned under a rule stands in `standing_plans`.
"""

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db import transaction

from lifecycle.drop.domain import standing
from lifecycle.inventory.selectors.policy import table_policy
from lifecycle.models import (
    StandingRule,
    StandingRuleState,
    TableFinding,
)
from lifecycle.planning.services.parties import requesters_of, rule_requesters
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.approvals import kinds as approval_kinds
from portal.approvals.domain import ApprovalState, SaidWord
from portal.approvals.models import Approval
from portal.approvals.services import (
    approval_check,
    approval_decide,
    approval_open,
    approval_use,
)
from portal.audit.services import audit_record
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, NotVisible, PortalError, RuleViolation, StaleState
from portal.lake.reasons import check_reason, check_text

APPROVAL_KIND = "lifecycle.standing_rule"
_CONTENT = (
    *("lake", "db", "table", "tbl_id", "level", "ttl", "owner"),
    *("max_items_day", "max_bytes_day", "starts_on", "until"),
)
_LIVE = (StandingRuleState.PENDING, StandingRuleState.ACTIVE)


@dataclass(frozen=True, slots=True)
class RuleWish:
    """What a person wants a standing rule to say."""

    db: str
    table: str
    max_items_day: int
    max_bytes_day: int
    until: date
    reason: str


def _require_maker(user: User) -> None:
    if not user.is_lake_keeper:
        raise NotAllowed("standing.role", "Admins and operators ask for standing rules.")


@transaction.atomic
def standing_rule_request(lake: str, wish: RuleWish, *, user: User, now: datetime) -> StandingRule:
    """Ask two people for a standing rule; a table has at most one that waits or is active."""
    _require_maker(user)
    check_reason(wish.reason, "standing.reason", "Say why this table needs a standing rule.")
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
    rule.approval = approval_open(
        APPROVAL_KIND,
        lake=lake,
        object_id=str(rule.pk),
        digest=rule.digest,
        requesters=requesters,
        summary={"title": f"Standing rule for {wish.db}.{wish.table}", "reason": rule.reason},
        now=now,
    )
    rule.save(update_fields=["approval"])
    _audit("standing_rule.requested", rule, actor=user.username, now=now, content=_content(rule))
    return rule


def rule_digest(rule: StandingRule) -> str:
    """Return the sha256 of what a rule says; what is approved is exactly that."""
    text = json.dumps(_content(rule), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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
    why = standing.why_other_basis(rule_terms(rule).basis, basis_of(table))
    if why:
        raise StaleState("standing.policy", why)
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


def get_rule_for_user(rule_id: UUID | str, *, user: User) -> StandingRule:
    """Return a rule that this person may see: admins and operators all, owners their tables'."""
    rule = StandingRule.objects.select_related("approval").filter(pk=rule_id).first()
    if rule is not None and not user.is_lake_keeper:
        tables = TableFinding.objects.current(rule.lake).for_user(user)
        if not tables.filter(db=rule.db, table=rule.table).exists():
            rule = None
    if rule is None:
        raise NotVisible(
            "standing.missing", "There is no such standing rule, or it is not yours to see."
        )
    return rule


def standing_rule_decide(
    rule_id: UUID | str,
    *,
    user: User,
    word: SaidWord,
    authenticated_at: datetime | None,
    now: datetime,
) -> StandingRule:
    """Record one person's decision on exactly the rule that they read, with a fresh login."""
    rule = get_rule_for_user(rule_id, user=user)
    if rule.approval_id is None:
        raise StaleState("standing.closed", "This rule does not wait for a decision.")
    if word.digest != rule_digest(rule):
        raise StaleState("standing.changed", "The rule is not the one that you read. Reload it.")
    approval_decide(
        rule.approval_id,
        user=user,
        verdict=word.verdict,
        reason=word.reason,
        digest=word.digest,
        authenticated_at=authenticated_at,
        now=now,
    )
    return get_rule_for_user(rule_id, user=user)


@transaction.atomic
def standing_rule_end(
    rule_id: UUID | str, *, user: User, reason: str, now: datetime
) -> StandingRule:
    """End a rule before its day: its maker or an admin. Plans under it stop before they start."""
    rule = get_rule_for_user(rule_id, user=user)
    if user.username != rule.requested_by and not user.is_lake_admin:
        raise NotAllowed("standing.end", "Only its maker or an admin may end a standing rule.")
    check_text(reason)
    _move(rule, StandingRuleState.ENDED, sources=_LIVE, actor=user.username, note=reason, now=now)
    return rule


def standing_rules_refresh(lake: str, *, now: datetime) -> None:
    """Let approved rules begin when their cooling-off is over, and end those whose day has come."""
    today = day_of(now, get_lake(lake).zone)
    for rule in StandingRule.objects.filter(lake=lake, state__in=_LIVE).select_related("approval"):
        if rule.until < today:
            sources, note = _LIVE, "Its last day is over."
            _move(
                rule, StandingRuleState.ENDED, sources=sources, actor="system", note=note, now=now
            )
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
            _move(
                rule,
                StandingRuleState.ACTIVE,
                sources=(StandingRuleState.PENDING,),
                actor="system",
                note="",
                now=now,
            )
    except PortalError as error:
        StandingRule.objects.filter(pk=rule.pk).update(last_note=error.message)


def standing_rules_live(lake: str) -> bool:
    """Whether a rule waits or is active."""
    return StandingRule.objects.filter(lake=lake, state__in=_LIVE).exists()


def _move(
    rule: StandingRule,
    to: StandingRuleState,
    *,
    sources: tuple[StandingRuleState, ...],
    actor: str,
    note: str,
    now: datetime,
) -> None:
    ended = to not in _LIVE
    moved = StandingRule.objects.filter(pk=rule.pk, state__in=sources).update(
        state=to,
        last_note=note,
        ended_at=now if ended else None,
        ended_by=actor if ended else "",
    )
    if not moved:
        raise StaleState("standing.state", "The rule has moved on. Reload the page.")
    rule.refresh_from_db()
    _audit(f"standing_rule.{to.lower()}", rule, actor=actor, now=now, note=note)


def _audit(action: str, rule: StandingRule, *, actor: str, now: datetime, **data: object) -> None:
    audit_record(
        action,
        actor=actor,
        lake=rule.lake,
        object_type="standing_rule",
        object_id=str(rule.pk),
        data={"digest": rule.digest, **data},
        now=now,
    )


def _lock(approval: Approval) -> None:
    StandingRule.objects.select_for_update().filter(pk=approval.object_id).first()


def _follow(to: StandingRuleState) -> approval_kinds.Hook:
    def hook(approval: Approval, now: datetime) -> None:
        rule = StandingRule.objects.get(pk=approval.object_id)
        if rule.state != StandingRuleState.PENDING:
            return
        note = approval.end_reason
        _move(rule, to, sources=(StandingRuleState.PENDING,), actor="system", note=note, now=now)

    return hook


def register_standing_kinds() -> None:
    """Tell the platform of the approval; a rule begins by `standing_rules_refresh`."""
    approval_kinds.register(
        approval_kinds.ApprovalKind(
            name=APPROVAL_KIND,
            title="Standing rule",
            lock_object=_lock,
            requesters=rule_requesters,
            on_rejected=_follow(StandingRuleState.REJECTED),
            on_lapsed=_follow(StandingRuleState.LAPSED),
            on_withdrawn=_follow(StandingRuleState.ENDED),
        )
    )
