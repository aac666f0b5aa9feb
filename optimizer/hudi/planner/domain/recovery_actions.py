"""Narrows a finding's remedy to the plans that would run now, and names its button by them.

The finding was judged by the look alone; which plans a run executes at this moment, or which are
left to whoever began them, is ruled on when the page is shown, as it is when somebody asks.
"""

from dataclasses import replace

from optimizer.hudi.inspect.domain.findings import Code, Finding, RecoveryAction
from optimizer.hudi.inspect.domain.timeline import pending
from optimizer.hudi.maintenance.domain.tasks import ACTIONS, Service, Step, oldest_first
from optimizer.hudi.planner.domain.needs import Case, executions
from portal.lake.errors import RuleViolation


def narrowed(finding: Finding, case: Case) -> Finding:
    """Return the finding with a remedy that names only plans that would run now."""
    remedy = finding.remedy
    if remedy is None or remedy.service is None or not _executes_plans(finding):
        return finding
    held = {
        instant: need.reason
        for need in executions(case, remedy.service)
        if not need.is_needed
        for instant in need.instants
    }
    free = tuple(one for one in remedy.instants if one not in held)
    left_out = [held[one] for one in remedy.instants if one in held]
    try:
        oldest_first(_pending(case, remedy.service), only=free)
    except RuleViolation as error:
        return replace(finding, remedy=RecoveryAction(f"{remedy.words} Not now: {error.message}"))
    if not left_out:
        return finding
    first = f"The first of these: {left_out[0]}" if len(left_out) > 1 else left_out[0]
    n = "None of them goes" if not free else f"{len(left_out):,} of them not"
    words = f"{remedy.words} {n} now. {first}"
    found = replace(remedy, words=words, instants=free) if free else RecoveryAction(words)
    return replace(finding, remedy=found)


def label_of(finding: Finding, case: Case) -> str:
    """Return what stands on the button of a finding's remedy; '' where it has none."""
    remedy = finding.remedy
    if remedy is None or remedy.service is None:
        return ""
    if remedy.service is Service.ROLLBACK:
        return "List what they wrote" if remedy.step is Step.SCHEDULE else "Roll it back"
    if remedy.step is Step.SCHEDULE:
        return f"Schedule a {str(remedy.service).lower()}"
    n, n_all = len(remedy.instants), len(_pending(case, remedy.service))
    if not _executes_plans(finding) or n == n_all == 1:
        return "Execute it"
    which = f"all {n:,}" if n == n_all else f"{n:,} of {n_all:,}"
    return f"Execute {which}, oldest first"


def _executes_plans(finding: Finding) -> bool:
    """Whether the remedy is about all that is pending of a service; a stuck one has its own."""
    remedy = finding.remedy
    is_execution = remedy is not None and remedy.step is Step.EXECUTE and remedy.service in ACTIONS
    return is_execution and finding.code is not Code.STUCK


def _pending(case: Case, service: Service) -> list[str]:
    return [one.instant for one in pending(case.look, ACTIONS[service])]
