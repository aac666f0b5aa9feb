"""Defined, queued, built, and kept up by the table's commits: a cube from its definition on."""

from typing import Any

import pytest
from django.utils import timezone

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.cubes.services.definitions import cube_declare
from optimizer.iceberg.planner.services.planner import decide_due
from optimizer.models import Cube, IcebergTable, OptimizeTask, PolicyVersion
from optimizer.pruning.jobs.prune import INDEXED, use_indexes
from optimizer.rewriting.domain.answers import rewrite
from optimizer.rewriting.domain.facts import TableFacts
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.jobs import read_tables
from portal.access.services import person_create
from stack.stack import LAKE, Stack
from tests.integration.optimizer.iceberg.planner.test_optimizer_whole_way import look, optimize
from tests.support.iceberg_lake import DAYS, IcebergLake, small_files
from tests.support.refreshed import follow
from tests.support.scan_spark import job_for

pytestmark = [pytest.mark.django_db]

DEFINITION = {
    "format": "lakewarden-cube",
    "version": 1,
    "name": "by_day",
    "definition_version": 1,
    "time_zone": "UTC",
    "joins": [],
    "dimensions": [
        {"name": "dt", "expression": "fact.dt", "type": "string"},
        {"name": "word", "expression": "fact.word", "type": "string"},
    ],
    "measures": [
        {"name": "id", "expression": "fact.id", "type": "bigint", "functions": ["sum", "max"]}
    ],
    "columns": {},
    # No dimension named: the tree is over all of them.
    "star_tree": {"max_leaf": 1, "dimensions": [], "skip_star": []},
}
SUMS = "sum(id) AS n, max(id) AS most, count(*) AS rows"
QUERIES = (
    f"SELECT dt, {SUMS} FROM {{}} GROUP BY dt",
    f"SELECT word, {SUMS} FROM {{}} GROUP BY word",
    f"SELECT dt, word, {SUMS} FROM {{}} GROUP BY dt, word",
    f"SELECT {SUMS} FROM {{}}",
    f"SELECT {SUMS} FROM {{}} WHERE dt = '{DAYS[1]}'",
)


@pytest.fixture
def lake(iceberg_lake: IcebergLake, embedded_stack: Stack, settings: Any) -> IcebergLake:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    PolicyVersion.objects.create(
        lake=LAKE,
        scope="*",
        version=1,
        values={"is_on": True, "kinds": [TaskKind.CUBE]},
        by="a",
        at=timezone.now(),
        reason="t",
    )
    follow()
    return iceberg_lake


def built(lake: IcebergLake, cube: Cube) -> OptimizeTask:
    """Do the one task that waits for the cube's table."""
    task = OptimizeTask.objects.get(table=cube.table, is_open=True)
    assert (task.kind, task.state) == (TaskKind.CUBE, TaskState.WAITING)
    optimize(lake)
    task.refresh_from_db()
    cube.refresh_from_db()
    assert (task.state, cube.problem) == (TaskState.DONE, ""), task.outcome
    return task


def check_answered(lake: IcebergLake, name: str) -> None:
    """Check that Spark answers from what was built, and what the table itself gives."""
    use_indexes(lake.spark, lake.config)
    for query in QUERIES:
        check_query(lake, name, query)


def check_query(lake: IcebergLake, name: str, query: str) -> None:
    frame = lake.spark.sql(query.format(f"{INDEXED}.{lake.db}.{name}"))
    jvm: Any = lake.spark._jvm
    said = " ".join(jvm.lakewarden.cubes.Answers.why(frame._jdf))
    assert said.startswith("Cube "), said
    assert "is not used" not in said
    plain = lake.spark.sql(query.format(f"lake.{lake.db}.{name}"))
    rows = sorted(map(tuple, plain.collect()), key=repr)
    assert sorted(map(tuple, frame.collect()), key=repr) == rows, query
    job = job_for(lake.spark, lake.config, {"tables": [f"{lake.db}.{name}"]}, now=timezone.now())
    facts = {
        key: TableFacts.from_json(one)
        for key, one in read_tables.run(lake.spark, job)["tables"].items()
    }
    answer = rewrite(query.format(f"lake.{lake.db}.{name}"), Session("spark"), facts)
    assert answer.is_rewritten, answer.blocks
    assert sorted(map(tuple, lake.spark.sql(answer.sql).collect()), key=repr) == rows, query


def test_a_defined_cube_is_built_and_follows_the_tables_commits(lake: IcebergLake) -> None:
    table = small_files(lake.table(), 3)
    follow()
    row = IcebergTable.objects.get(table=table.name, is_deleted=False)
    look(lake, row)
    ada = person_create(
        "ada", password="correct horse staple", email="ada@example.org", roles=("admin",)
    )
    cube = cube_declare(row, DEFINITION, user=ada, reason="a dashboard", now=timezone.now())
    assert not OptimizeTask.objects.filter(table=row).exists()
    decide_due(LAKE, now=timezone.now())

    built(lake, cube)

    assert (cube.n_files, cube.n_covered, cube.n_rows, cube.n_rows_covered) == (6, 6, 18, 18)
    parts = list(cube.coverage.order_by("place").values_list("n_files", "n_covered", "n_rows"))
    assert parts == [(3, 3, 9), (3, 3, 9)]
    sums = lake.spark.sql(
        f"SELECT dt, sum(id_sum) AS n FROM lake.{lake.db}.{table.name}__cube_by_day "
        "WHERE star = 0 GROUP BY dt"
    )
    plain = lake.spark.sql(f"SELECT dt, sum(id) AS n FROM lake.{lake.db}.{table.name} GROUP BY dt")
    assert sorted(map(tuple, sums.collect())) == sorted(map(tuple, plain.collect()))

    check_answered(lake, table.name)

    table.append([(1000, "2026-05-09", "new")])
    table.say("DELETE FROM {t} WHERE id = 11")
    follow()
    built(lake, cube)

    assert (cube.n_rows, cube.n_rows_covered) == (19, 19)
    assert cube.coverage.get(place=0).partition == "dt=2026-05-09"
    assert cube.builds.count() == 2
    check_answered(lake, table.name)
    follow()
    look(lake, row)
    assert not OptimizeTask.objects.filter(table=row, is_open=True).exists(), row.decision
