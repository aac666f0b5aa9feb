"""A rewrite and a removal of one table are never both sent, whichever worker is quicker."""

from collections.abc import Callable
from threading import Event

import pytest
from django.db import transaction

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services.dispatcher import claim
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.models import OptimizeTask
from optimizer.removals.services.claims import lists_claim
from portal.access.models import User
from tests.component.conftest import People
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import policy
from tests.component.optimizer.iceberg.removal_rows import proposed
from tests.component.optimizer.optimizer_rows import NOW, iceberg, task
from tests.component.optimizer.removals.test_optimizer_removals import (
    LATER,
    approved,
    decide,
    run_of,
)
from tests.support.together import together


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize("first", ["removal", "rewrite"])
def test_a_rewrite_and_a_removal_of_one_table_are_never_both_sent(
    people: People, first: str
) -> None:
    row = iceberg()
    plan = approved(row, people, requested_by="olga")
    policy(kinds=["MINOR"])
    waits = task(row, kind=TaskKind.MINOR)
    removes, rewrites = run_of(), run_of("optimize")
    workers: dict[str, Callable[[], object]] = {
        "removal": lambda: lists_claim(ICEBERG, removes, now=LATER),
        "rewrite": lambda: claim(ICEBERG, rewrites, now=LATER),
    }
    second = workers["rewrite" if first == "removal" else "removal"]
    begun, done = Event(), Event()

    def slow() -> None:
        # The first worker has taken its task and has not committed it yet.
        with transaction.atomic():
            workers[first]()
            begun.set()
            done.wait(timeout=1)

    def quick() -> None:
        begun.wait(timeout=10)
        second()
        done.set()

    together(slow, quick)
    plan.refresh_from_db()
    waits.refresh_from_db()
    sent = OptimizeTask.objects.filter(state=TaskState.SENT)
    assert [one.kind for one in sent] == ["EXPIRE" if first == "removal" else "MINOR"]
    assert (plan.state, waits.state) == (
        ("RUNNING", "WAITING") if first == "removal" else ("APPROVED", "SENT")
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("lake")
def test_of_two_at_once_each_yes_counts_once_and_one_run_has_the_list(people: People) -> None:
    plan = proposed(iceberg(), now=NOW, requested_by="olga")

    def agree(user: User) -> Callable[[], object]:
        return lambda: decide(plan, user)

    assert together(agree(people.second), agree(people.second)).count("") == 1
    assert together(agree(people.third), agree(people.admin)).count("") == 1
    plan.refresh_from_db()
    assert plan.state == "APPROVED"
    first, second = run_of(), run_of()
    together(
        lambda: lists_claim(ICEBERG, first, now=LATER),
        lambda: lists_claim(ICEBERG, second, now=LATER),
    )
    assert OptimizeTask.objects.get().run in (first.pk, second.pk)
    plan.refresh_from_db()
    assert (plan.state, plan.run) == ("RUNNING", OptimizeTask.objects.get().run)
