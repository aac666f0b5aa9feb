"""Whatever happens to a list of a Hudi table, in whichever order, nothing goes without it."""

from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.dispatcher import claim
from optimizer.core.services.results import reclaim, results_ingest
from optimizer.hudi.inspect.domain.facts import Action
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.hudi.planner.services.planner import hudi_decide
from optimizer.models import HudiTable, OptimizeTask, PolicyVersion, RemovalPlan
from optimizer.removals.services.claims import lists_claim
from optimizer.removals.services.removals import removal_decide
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.lake.errors import NotAllowed, StaleState
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_listed import CLEANING, listed
from tests.component.optimizer.hudi.hudi_task_rows import (
    allow,
    looked,
    run_of,
    said,
)
from tests.component.optimizer.hudi.planner.test_optimizer_hudi_lists import (
    CLEAN,
    CLEAN_LIST,
    MINUTE,
)
from tests.unit.optimizer.hudi.hudi_world import NOW, asked, done, look

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def _lose(at: datetime) -> None:
    Run.objects.filter(finished_at=None).update(state="FAILED", finished_at=at)
    reclaim(HUDI, "main", now=at)


def _decide(at: datetime) -> None:
    HudiTable.objects.update(decided_at=None)
    hudi_decide("main", now=at)


def _end(at: datetime) -> None:
    for task in OptimizeTask.objects.filter(state="SENT"):
        results_ingest(HUDI, Run.objects.get(pk=str(task.run)), said(task, "FAILED"), now=at)


HAPPENS: dict[str, Callable[[datetime], object]] = {
    "claim": lambda at: claim(HUDI, run_of(now=at), now=at),
    "lists": lambda at: lists_claim(HUDI, run_of("hudi_remove", now=at), now=at),
    "lose": _lose,
    "decide": _decide,
    "end": _end,
    "pause": lambda _: HudiTable.objects.update(is_paused=True),
}
_STEP = st.sampled_from(["approve", "reject", *HAPPENS])


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(_STEP, max_size=7))
def test_whatever_happens_in_whichever_order_nothing_goes_without_its_list(
    people: People, steps: list[str]
) -> None:
    RemovalPlan.objects.all().delete()
    HudiTable.objects.all().delete()
    Run.objects.all().delete()
    PolicyVersion.objects.all().delete()
    allow()
    row = looked("rides", look(asked(10, Action.CLEAN), done(11)))
    found = listed(row, CLEAN_LIST, CLEANING)
    words = iter((people.admin, people.second, people.third))
    at = NOW
    for step in steps:
        at += 40 * MINUTE
        if step in ("approve", "reject"):
            _say(found, next(words, people.third), step, at)
        else:
            HAPPENS[step](at)
        for task in OptimizeTask.objects.filter(state=TaskState.SENT, kind=CLEAN):
            mine = task.removals.get()
            assert (mine.state, mine.run) == ("RUNNING", task.run)
            assert mine.approval is not None
            assert mine.approval.decisions.filter(decision="APPROVE").count() >= 2


def _say(found: RemovalPlan, user: User, decision: str, at: datetime) -> None:
    answer = DecisionInput(decision.upper(), "because", found.digest)
    try:
        removal_decide(found.pk, user=user, answer=answer, authenticated_at=at, now=at)
    except (StaleState, NotAllowed):
        return
