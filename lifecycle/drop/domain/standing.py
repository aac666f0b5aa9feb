"""Which items of a daily plan a standing rule already approves, and which stay explicit.

Two people approve a rule per table, with caps per day and an end. The first drop of a table,
whatever is over a cap and recently read items always need their own approval.
"""

from dataclasses import dataclass
from datetime import date

from portal.lake.errors import RuleViolation

MAX_DAYS = 90


@dataclass(frozen=True, slots=True)
class Basis:
    """What decides when a table's data falls due, and whose it is."""

    level: int | None
    ttl: int | None
    owner: str

    def __str__(self) -> str:
        return f"LEVEL {self.level}, TTL {self.ttl}, owner {self.owner or 'nobody'}"


@dataclass(frozen=True, slots=True)
class StandingRule:
    """An approved rule for one table generation: what may go a day, from and to which day."""

    tbl_id: int
    basis: Basis
    max_items: int
    max_bytes: int
    starts_on: date
    ends_on: date


@dataclass(frozen=True, slots=True)
class TableShare:
    """What one plan would take of one table."""

    tbl_id: int
    basis: Basis
    n_items: int
    n_bytes: int
    n_still_read: int


@dataclass(frozen=True, slots=True)
class UsedToday:
    """What the rule has already let through on this day."""

    n_items: int = 0
    n_bytes: int = 0


@dataclass(frozen=True, slots=True)
class StandingDecision:
    """Whether the rule covers the whole share; if not, the sentence that says why."""

    covered: bool
    reason: str


def check_rule(rule: StandingRule) -> None:
    """Refuse a rule that could not have been meant: RuleViolation `standing.*`."""
    if rule.basis.level is None or rule.basis.ttl is None:
        raise RuleViolation("standing.policy", "A standing rule needs a table with LEVEL and TTL.")
    if not rule.starts_on <= rule.ends_on:
        raise RuleViolation("standing.days", "A standing rule ends on or after its first day.")
    if (rule.ends_on - rule.starts_on).days >= MAX_DAYS:
        raise RuleViolation("standing.days", f"A standing rule holds for at most {MAX_DAYS} days.")
    if rule.max_items < 1 or rule.max_bytes < 1:
        raise RuleViolation("standing.caps", "A standing rule caps items and bytes, at least 1.")


def decide(
    rule: StandingRule | None,
    share: TableShare,
    *,
    used: UsedToday,
    dropped_before: bool,
    today: date,
) -> StandingDecision:
    """Decide whether a rule covers a table's share of today's plan; all or nothing.

    `dropped_before` says whether an explicitly approved drop of this table generation succeeded.
    """
    reason = _why_explicit(rule, share, used=used, dropped_before=dropped_before, today=today)
    return StandingDecision(
        covered=not reason, reason=reason or "Covered by the table's standing rule."
    )


def reason_of_other_basis(approved: Basis, found: Basis) -> str:
    """Return why a rule that was approved for one policy and owner does not cover another."""
    if approved == found:
        return ""
    return f"The rule was approved for {approved}; the table has {found}."


def _why_explicit(
    rule: StandingRule | None,
    share: TableShare,
    *,
    used: UsedToday,
    dropped_before: bool,
    today: date,
) -> str:
    if rule is None:
        return "The table has no standing rule."
    if rule.tbl_id != share.tbl_id:
        return "The rule was approved for an earlier table of this name."
    if reason := reason_of_other_basis(rule.basis, share.basis):
        return reason
    if not rule.starts_on <= today <= rule.ends_on:
        return f"The rule holds from {rule.starts_on} to {rule.ends_on}."
    if not dropped_before:
        return "The first drop of a table is always approved explicitly."
    if share.n_still_read:
        if share.n_still_read == 1:
            return "1 item was recently read; it is deleted only with an explicit consent."
        return (
            f"{share.n_still_read:,} items were recently read; they are deleted only with an "
            "explicit consent."
        )
    if used.n_items + share.n_items > rule.max_items:
        return f"Today's items would be over the rule's cap of {rule.max_items}."
    if used.n_bytes + share.n_bytes > rule.max_bytes:
        return f"Today's bytes would be over the rule's cap of {rule.max_bytes}."
    return ""
