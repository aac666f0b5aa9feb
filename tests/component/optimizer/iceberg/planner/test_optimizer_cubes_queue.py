"""A cube follows the tables that it joins: their snapshots queue a build, as the table's own do."""

from collections.abc import Sequence

import pytest

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.services.dispatcher import claim
from optimizer.discovery.services.event_handlers import on_events
from optimizer.iceberg.cubing.selectors import n_cubes_behind
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.iceberg.planner.services.planner import decide_due, queue_joined
from optimizer.iceberg.tables.domain.events import iceberg_table
from optimizer.iceberg.tables.services.poll import poll_compare
from optimizer.models import Cube, IcebergTable, OptimizeTask, PolicyVersion
from portal.runs.models import Run
from tests.component.optimizer.cubes.cube_rows import cube
from tests.component.optimizer.iceberg.iceberg_said import (
    NOW,
    OTHER,
    altered,
    at,
    created,
    parameters,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
OURS = {"added-data-files": "1", "lakewarden.task-id": "1"}


def committed(version: int, *, ours: bool = False) -> None:
    """Let a commit of the joined table be heard; its snapshot is 7000 and the version."""
    before = parameters(version - 1, uuid=OTHER)
    after = parameters(version, uuid=OTHER, summary=OURS if ours else None)
    on_events([altered(before, after, table="part")], at(version))


@pytest.fixture
def sales() -> Cube:
    """A cube that was built with the joined table's snapshot 7001, of a table that is quiet."""
    on_events([created(parameters(0)), created(parameters(0, uuid=OTHER), table="part")], NOW)
    committed(1)
    PolicyVersion.objects.create(
        lake="main",
        scope="*",
        version=1,
        values={"is_on": True, "kinds": [TaskKind.CUBE]},
        by="ada",
        at=NOW,
        reason="t",
    )
    joined = {"alias": "part", "table": "shop.part", "uuid": OTHER, "snapshot_ids": [7001]}
    table = IcebergTable.objects.get(table="clicks")
    IcebergTable.objects.update(inspect_due_at=None)
    made = cube(table, now=NOW, snapshot_id=None, dimensions=[joined])
    version = made.versions.get()
    on = {"alias": "part", "table": "shop.part", "uuid": OTHER, "on": [["fact.part", "p"]]}
    version.definition["joins"] = [on]
    version.save()
    return made


def tasks() -> list[OptimizeTask]:
    return list(OptimizeTask.objects.filter(is_open=True, kind=TaskKind.CUBE))


def told(made: Cube, *snapshot_ids: int) -> None:
    made.dimensions[0]["snapshot_ids"] = list(snapshot_ids)
    made.save()
    OptimizeTask.objects.update(is_open=None, state=TaskState.DONE, ended_at=NOW)


@pytest.mark.parametrize("ours", [False, True])
def test_a_joined_tables_commit_queues_a_build_once(sales: Cube, ours: bool) -> None:
    committed(1)
    assert tasks() == []
    committed(2, ours=ours)
    committed(3)
    (task,) = tasks()
    assert (task.iceberg, task.state) == (sales.table, TaskState.WAITING)
    assert task.reason == "shop.part changed, which a cube joins."
    run = Run.objects.create(lake="main", kind="optimize", requested_by="test", queued_at=NOW)
    assert claim(ICEBERG, run, now=at(4)) == 1
    told(sales, 7002, 7003)
    committed(3)
    assert tasks() == []


def test_a_poll_that_finds_it_queues_a_build_too(sales: Cube) -> None:
    def follow(changed: Sequence[IcebergTable]) -> None:
        queue_joined("main", changed, now=at(9))

    names = {"clicks": parameters(0), "part": parameters(2, uuid=OTHER)}
    listed = [iceberg_table(("shop", name), of, owner="olga") for name, of in names.items()]
    said = [one for one in listed if one is not None]
    found = poll_compare("main", iter([said]), read_at=at(8), now=at(9), changed=follow)
    assert found == (1, 0)
    assert [one.iceberg for one in tasks()] == [sales.table]


def test_a_decision_keeps_what_a_joined_table_asks_for(sales: Cube) -> None:
    assert n_cubes_behind(sales.table) == 0
    committed(2)
    assert n_cubes_behind(sales.table) == 1
    IcebergTable.objects.filter(pk=sales.table.pk).update(inspected_at=NOW, decide_again_at=NOW)
    decide_due("main", now=at(3))
    (task,) = tasks()
    assert task.reason == "1 cube of the table may not cover all its files."
    told(sales, 7001, 7002)
    assert n_cubes_behind(sales.table) == 0


@pytest.mark.parametrize("change", ["paused", "off", "another", "dropped"])
def test_what_is_not_to_be_built_is_not_queued(sales: Cube, change: str) -> None:
    if change == "paused":
        Cube.objects.update(state="PAUSED")
    elif change == "off":
        PolicyVersion.objects.update(values={"is_on": True, "kinds": []})
    elif change == "another":
        sales.versions.update(definition={**sales.versions.get().definition, "joins": []})
    else:
        IcebergTable.objects.filter(table="clicks").update(is_deleted=True)
    committed(2)
    assert tasks() == []
