"""The first tab of a Hudi table: how well it is, what is wrong by what evidence, what helps."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from optimizer.core.selectors.tasks import tasks_done
from optimizer.hudi.inspect.domain.findings import Finding, RecoveryAction
from optimizer.hudi.inspect.domain.quality import failures, not_looked_at
from optimizer.hudi.inspect.domain.timeline import Unfit, unfit
from optimizer.hudi.inspect.selectors.snapshots import hudi_policy_of, last_inspection
from optimizer.hudi.pages.ui import charts
from optimizer.hudi.pages.ui.evidence import EvidenceTable, evidence_tables
from optimizer.hudi.pages.ui.nav import frame_of
from optimizer.hudi.planner.domain.needs import Case
from optimizer.hudi.planner.domain.recovery_actions import label_of, narrowed
from optimizer.hudi.planner.services.recent_runs import recent_activity_of
from optimizer.hudi.tables.selectors.tables import get_hudi_for_user, last_hudi_points
from optimizer.models import HudiTable
from portal.ui.frame.context import person


@dataclass(frozen=True, slots=True)
class Wrong:
    """A finding as it is shown, with the form that its remedy sends."""

    number: int
    finding: Finding
    tables: list[EvidenceTable]
    hidden: dict[str, str]
    label: str
    also_hidden: dict[str, str]
    same_as: int = 0
    """The number of an earlier finding that has the same remedy; 0 = none has."""

    @property
    def also_name(self) -> str:
        """What tells the form of what helps besides from the others of a page."""
        return f"{self.number}-also"

    @property
    def n_left_out(self) -> int:
        """How many rows of evidence are not shown."""
        return self.finding.n_evidence - len(self.finding.evidence)


@dataclass(frozen=True, slots=True)
class Judged:
    """What is wrong by the last look, judged by the policy that holds now and at this hour.

    The score and its deductions are the look's own, as the list of tables shows them.
    """

    left_alone: Unfit | None
    wrong: list[Wrong]
    silent: tuple[str, ...]


@require_GET
def health(request: HttpRequest, table_id: int) -> HttpResponse:
    """Show what the score lost and why, and everything that is wrong with its remedy."""
    table = get_hudi_for_user(table_id, person(request))
    seen = last_inspection(table)
    policy, now = hudi_policy_of(table).policy, timezone.now()
    judged = None
    if seen.look is not None:
        # What failed lately is tried again at once where a person asks for it.
        lately = replace(recent_activity_of(table, seen.look, now=now), failed={})
        judged = judge(Case.of(seen.look, policy, lately, now))
    shown: dict[str, Any] = {
        "judged": judged,
        "charts": trend_of(table),
    }
    return render(request, "optimizer/hudi_health.html", frame_of(table, seen, shown))


def judge(case: Case) -> Judged:
    """Judge a look again: policies change and views grow older between two looks."""
    found = failures(case.look, case.policy, case.now)
    return Judged(
        unfit(case.look),
        _numbered((narrowed(one, case) for one in found), case),
        not_looked_at(case.look),
    )


def trend_of(table: HudiTable) -> list[Any]:
    """Return the pictures of how the table did."""
    points = last_hudi_points(table)
    done = tasks_done(table, since=points[0].at) if points else []
    return charts.trend(points, done)


def _numbered(found: Iterable[Finding], case: Case) -> list[Wrong]:
    """Number the findings; a remedy that several share is offered once, at the first of them."""
    first: dict[tuple[Any, ...], int] = {}
    wrong = []
    for number, one in enumerate(found, 1):
        earlier = 0
        if one.remedy is not None and one.remedy.service is not None:
            key = (one.remedy.service, one.remedy.step, one.remedy.instants)
            earlier = first.setdefault(key, number)
        same_as = 0 if earlier == number else earlier
        wrong.append(_wrong(number, one, label_of(one, case), same_as=same_as))
    return wrong


def _wrong(number: int, one: Finding, label: str, *, same_as: int) -> Wrong:
    hidden, also = _sent(one.remedy), _sent(one.also)
    return Wrong(number, one, evidence_tables(one.evidence), hidden, label, also, same_as)


def _sent(remedy: RecoveryAction | None) -> dict[str, str]:
    """Return what the form of a remedy sends."""
    if remedy is None or remedy.service is None or remedy.step is None:
        return {}
    return {
        "service": str(remedy.service),
        "step": str(remedy.step),
        "instants": " ".join(remedy.instants),
    }
