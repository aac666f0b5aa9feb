"""Reads how much one plan of a lake may take, and how many people must approve it.

A lake's `plan_limits` in lakes.json come first, the site's LAKEWARDEN_PLAN_* settings second.
"""

from dataclasses import dataclass

from lifecycle.core.domain.caps import Caps, caps_crossed
from lifecycle.models import DropPlan, ScanSnapshot
from lifecycle.planning.selectors.inputs import act_databases, inventory
from portal.access.models import ADMIN, User
from portal.approvals.domain import Verdict
from portal.approvals.selectors import decisions_of, requesters_shown
from portal.approvals.sizes import Needed, plan_limit, plan_needed

NEXT_STEP = (
    "Choose fewer tables, or ask an operator to raise this cap (plan_limits of the lake in "
    "lakes.json)."
)


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """What a plan's page says of its size: the caps, the inventory, the people it needs."""

    caps: Caps
    n_inventory: int
    needed: Needed
    is_small: bool
    """So few items that their share of the lake says nothing."""
    n_may_approve: int
    """Admins who may still approve: they did not ask for it and have not approved it yet."""
    n_given: int

    @property
    def is_short_of_people(self) -> bool:
        """Whether too few people are left for the approvals that are missing."""
        return self.n_may_approve + self.n_given < self.needed.n

    @property
    def most_of_share(self) -> int:
        """The most items that the cap by percent lets through."""
        return self.n_inventory * self.caps.max_percent // 100


def plan_caps(lake: str, *, n_items: int | None = None) -> Caps:
    """Return the caps of a lake; for a small plan the share of the lake says nothing."""
    is_small = n_items is not None and n_items <= plan_limit(lake, "small")
    return Caps(
        max_items=plan_limit(lake, "max_items"),
        max_bytes=plan_limit(lake, "max_bytes"),
        max_percent=100 if is_small else plan_limit(lake, "max_percent"),
    )


def plan_over_caps(lake: str, generation: ScanSnapshot, *, n_items: int, n_bytes: int) -> str:
    """Name every cap that a plan of this size crosses, and the next step; empty if none."""
    crossed = caps_crossed(
        n_items=n_items,
        n_bytes=n_bytes,
        n_inventory=inventory(generation, act_databases(lake)),
        caps=plan_caps(lake, n_items=n_items),
    )
    return " ".join([*crossed, NEXT_STEP]) if crossed else ""


def limits_now(lake: str, generation: ScanSnapshot) -> dict[str, int]:
    """Return the caps of a lake and its inventory, as a plan keeps them when it is created.

    A plan's page shows this record for good: caps and the number of items in ACT databases change.
    """
    caps = plan_caps(lake)
    return {
        "max_items": caps.max_items,
        "max_bytes": caps.max_bytes,
        "max_percent": caps.max_percent,
        "n_inventory": inventory(generation, act_databases(lake)),
        "small": plan_limit(lake, "small"),
    }


def plan_limits(plan: DropPlan) -> PlanLimits | None:
    """Return the limits that a drawn-up plan stands under; None before it was created."""
    if plan.generation is None:
        return None
    record = plan.limits or limits_now(plan.lake, plan.generation)
    return PlanLimits(
        caps=Caps(record["max_items"], record["max_bytes"], record["max_percent"]),
        n_inventory=record["n_inventory"],
        needed=plan_needed(plan.lake, n_items=plan.n_items, n_bytes=plan.n_bytes),
        is_small=plan.n_items <= record["small"],
        n_may_approve=_n_may_approve(plan),
        n_given=len(_approvers(plan)),
    )


def _n_may_approve(plan: DropPlan) -> int:
    """Count the admins who are no requesters of a plan and have not approved it."""
    asked = {name.casefold() for name in requesters_shown(plan.approval, plan.requesters)}
    asked |= {name.casefold() for name in _approvers(plan)}
    admins = User.objects.filter(is_active=True, groups__name=ADMIN)
    return sum(name.casefold() not in asked for name in admins.values_list("username", flat=True))


def _approvers(plan: DropPlan) -> list[str]:
    """Return who has approved a plan."""
    said = decisions_of(plan.approval)
    return [one.user.username for one in said if one.verdict == Verdict.APPROVE]
