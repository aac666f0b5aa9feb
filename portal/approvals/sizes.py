"""Number of approvals that a plan needs, by its size.

A lake's `plan_limits` in lakes.json come first, the site's LAKEWARDEN_PLAN_* settings second.
"""

from dataclasses import dataclass

from django.conf import settings

from portal.access.lakes import get_lake

FEWEST_APPROVALS = 2


@dataclass(frozen=True, slots=True)
class BigPlan:
    """From which size on a plan needs more people than two; a size itself is not yet big."""

    above_items: int
    above_bytes: int
    n_approvals: int


@dataclass(frozen=True, slots=True)
class Needed:
    """How many people must approve a plan, and the sentence that says why."""

    n: int
    reason: str


def approvals_needed(*, n_items: int, n_bytes: int, big: BigPlan) -> Needed:
    """Say how many approvals a plan of this size needs: two, or more when it is big."""
    reasons = []
    if n_items > big.above_items:
        reasons.append(f"{n_items} items are more than {big.above_items}")
    if n_bytes > big.above_bytes:
        reasons.append(f"{n_bytes} bytes are more than {big.above_bytes}")
    if not reasons or big.n_approvals <= FEWEST_APPROVALS:
        reason = f"Every plan needs {FEWEST_APPROVALS} people who did not ask for it."
        return Needed(FEWEST_APPROVALS, reason)
    return Needed(big.n_approvals, f"It is a large plan: {' and '.join(reasons)}.")


def plan_limit(lake: str, name: str) -> int:
    """Return one of a lake's limits of plans, such as `big_items`."""
    own: int | None = get_lake(lake).plan_limits.get(name)
    site: int = getattr(settings, f"LAKEWARDEN_PLAN_{name.upper()}")
    return site if own is None else own


def plan_needed(lake: str, *, n_items: int, n_bytes: int) -> Needed:
    """Say how many approvals a plan of this size needs in this lake, and why."""
    big = BigPlan(
        above_items=plan_limit(lake, "big_items"),
        above_bytes=plan_limit(lake, "big_bytes"),
        n_approvals=plan_limit(lake, "big_approvals"),
    )
    return approvals_needed(n_items=n_items, n_bytes=n_bytes, big=big)
