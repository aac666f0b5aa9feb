"""Shared parts of drop plans and relocation plans: checks before a run, and texts about its end."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from lifecycle.inventory.selectors.picture import picture_problem
from lifecycle.models import DropPlan, PlanState, RelocationPlan
from lifecycle.planning.selectors.inputs import act_databases, current_generation, plan_over_caps
from portal.lake.errors import StaleState
from portal.runs.records.logs import Line

LOGGED = 50
START_EVERY = timedelta(seconds=10)
_BLOCKED_MINUTES = 5


def is_turn_of(due: QuerySet[DropPlan] | QuerySet[RelocationPlan], *, now: datetime) -> bool:
    """Whether plans that are due are tried now: at once, and when blocked each five minutes."""
    is_turn_of_blocked = now.minute % _BLOCKED_MINUTES == 0
    return due.filter(outcome={}).exists() or (is_turn_of_blocked and due.exists())


def closed_databases(lake: str, databases: Iterable[str]) -> list[str]:
    """Return the databases of a plan that are not in ACT mode any more."""
    return sorted(set(databases) - act_databases(lake))


def check_modes(lake: str, databases: Iterable[str]) -> None:
    """Raise StaleState when a database of a plan is not in ACT mode any more."""
    gone = closed_databases(lake, databases)
    if gone:
        raise StaleState(
            "plan.mode",
            f"Not in Enforce mode any more: {', '.join(gone)}. Reject the plan and make a new one.",
        )


def check_picture(lake: str) -> None:
    """Raise StaleState when nothing may be started by the newest picture of a lake."""
    problem = picture_problem(lake, current_generation(lake))
    if problem:
        raise StaleState("plan.picture", problem)


def owners_of(rows: Iterable[tuple[str, str, str, str]]) -> dict[str, list[str]]:
    """Return the owners of each table and its database, as a plan knows them, for its job."""
    return {f"{db}.{table}": [owner, db_owner] for db, table, owner, db_owner in rows}


def check_caps(lake: str, *, n_items: int, n_bytes: int) -> None:
    """Raise StaleState when a plan of this size is over a cap as it is now."""
    over = plan_over_caps(lake, current_generation(lake), n_items=n_items, n_bytes=n_bytes)
    if over:
        raise StaleState("plan.caps", f"{over} This plan does not start; reject it.")


def outcome_of(manifest: Mapping[str, Any]) -> tuple[str, str]:
    """Return how a run ended and why, as its manifest says."""
    return manifest["outcome"], (manifest.get("error") or {}).get("message", "")


def state_at_end(outcome: str) -> PlanState:
    """Return the state of a plan whose run ended so."""
    ends = {"done": PlanState.DONE, "cancelled": PlanState.CANCELLED}
    return ends.get(outcome, PlanState.FAILED)


def reason_not_done(outcome: str, error: str, *, cancelled: str) -> str:
    """Say why a run did not do all that its plan holds; `cancelled` tells what then stands."""
    if outcome == "cancelled":
        return f"The run was cancelled; {cancelled}"
    return error or "The run ended without a result; its log has the last lines."


def left_lines(skipped: Sequence[Mapping[str, str]]) -> list[Line]:
    """Return the log lines about items that went another way than asked."""
    return last_lines(
        [f"{row['item']} was skipped ({row['outcome']}): {row['reason']}" for row in skipped]
    )


def last_lines(left: Sequence[str]) -> list[Line]:
    """Say in the run's own log what it left alone, and why."""
    lines = [Line("warning", text) for text in left[:LOGGED]]
    if len(left) > LOGGED:
        lines.append(Line("warning", f"{len(left) - LOGGED} more: see its page."))
    return lines
