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
from tests.component.conftest import People
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import policy
from tests.component.optimizer.optimizer_rows import iceberg, task
from tests.component.optimizer.removals.test_optimizer_removals import LATER, approved, run_of
from tests.support.together import together


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize("first", ["removal", "rewrite"])
def test_a_rewrite_and_a_removal_of_one_table_are_never_both_sent(
    people: People, first: str
) -> None:
    row = iceberg()
    plan = approved(row, people, asked_by="olga")
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
