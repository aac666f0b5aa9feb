"""A commit queues the indexes of what it wrote, and a snapshot that has them is left alone."""

import pytest

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.iceberg.indexing.domain.wanted import INDEXED_AT, INDEXED_FOR, mark_of
from optimizer.iceberg.planner.services.maintainer import orders_of
from optimizer.iceberg.planner.services.planner import decide_due
from optimizer.models import OptimizeTask
from optimizer.policies.selectors.policies import policies_of
from tests.component.optimizer.iceberg.iceberg_said import at
from tests.component.optimizer.iceberg.planner.test_optimizer_queue import commit, looked, policy

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def test_a_commit_queues_one_index_task_where_the_policy_names_columns() -> None:
    policy()
    commit(2, table="plain")
    assert not OptimizeTask.objects.exists()
    policy(version=2, index_columns=["id:bloom", "word"])
    commit(2)
    commit(3, now=at(1))
    task = OptimizeTask.objects.get()
    assert (task.kind, task.state) == (TaskKind.INDEX, TaskState.WAITING)
    (order,) = orders_of("main", OptimizeTask.objects.all(), now=at(1))
    assert order["index_columns"] == ["id:bloom", "word"]
    assert order["layout"] == ""


def test_a_table_that_is_paused_or_may_not_be_indexed_gets_none() -> None:
    policy(index_columns=["id"], kinds=["MINOR"])
    commit(2)
    policy(version=2, index_columns=["id"], is_on=False)
    commit(3, now=at(1))
    assert not OptimizeTask.objects.exists()


def test_a_snapshot_with_all_its_indexes_is_left_alone_until_the_next_or_other_columns() -> None:
    policy(index_columns=["id"], kinds=["INDEX"])
    commit(2)
    row = looked(2, now=at(1))
    row.refresh_from_db()
    wanted = policies_of("main").of(row.db, row.table).policy.index_columns
    OptimizeTask.objects.update(
        state=TaskState.DONE,
        is_open=None,
        ended_at=at(1),
        after={INDEXED_AT: row.looked_snapshot_id, INDEXED_FOR: mark_of(wanted)},
    )
    decide_due("main", now=at(2))
    assert not OptimizeTask.objects.filter(is_open=True).exists()

    policy(version=2, index_columns=["id", "word"], kinds=["INDEX"])
    looked(2, now=at(3))
    decide_due("main", now=at(4))
    task = OptimizeTask.objects.get(is_open=True)
    assert task.kind == TaskKind.INDEX
    assert "word" in task.reason
