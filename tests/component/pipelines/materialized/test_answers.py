"""What who rewrites queries is told of materializations."""

from datetime import timedelta

import msgspec
import pytest

from pipelines.commits.domain.positions import Position
from pipelines.materialized.domain.messages import Types
from pipelines.materialized.selectors.answers import unanswering_reason
from pipelines.materialized.selectors.uses import days_of
from pipelines.materialized.services.requests import refresh_request
from portal.catalog.services.stored_aggregates import aggregates_of
from portal.lake.aggregates import SourceCommit
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.component.optimizer.queries.test_spark_queries import batch, send
from tests.component.pipelines.materialized.test_materializations import (
    NOW,
    OTHER,
    create,
    edit,
    took,
)
from tests.support.materialized_lake import MaterializedLake

pytestmark = pytest.mark.django_db
TYPES = Types(("string",), ())
POSITIONS = {"shop.orders": Position("file:/lake/orders", "7")}


def test_a_materialization_answers_once_it_was_computed_by_its_definition(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner, max_lag_minutes=5)
    assert aggregates_of("main", ["shop.orders"]) == []
    assert unanswering_reason(row) == "it has not been computed yet"
    run = refresh_request(row, is_full=False, by="olga", now=NOW)
    row = took(row, run, types=TYPES, positions=POSITIONS, n_rows=40, n_groups=3)
    (found,) = aggregates_of("main", ["shop.orders", "shop.other"])
    assert (found.table, found.source, found.max_lag) == (
        "marts.days",
        "shop.orders",
        timedelta(minutes=5),
    )
    assert found.commits == {"shop.orders": SourceCommit("file:/lake/orders", "7")}
    assert (found.known_at, found.n_rows, found.source_rows) == (NOW, 3, 40)
    assert aggregates_of("main", ["shop.other"]) == []
    assert aggregates_of("other", ["shop.orders"]) == []


def test_what_was_computed_by_the_definition_before_answers_nothing(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner)
    run = refresh_request(row, is_full=False, by="olga", now=NOW)
    edit(row, people.owner, OTHER)
    row = took(row, run, types=TYPES, positions=POSITIONS)
    assert aggregates_of("main", ["shop.orders"]) == [], "the run was of the definition before"
    again = refresh_request(row, is_full=False, by="otto", now=NOW)
    again.finished_at = NOW
    again.save()
    run = refresh_request(row, is_full=False, by="olga", now=NOW)
    row = took(row, run, types=Types(("string",), ("int",)), positions=POSITIONS, version=1)
    assert len(aggregates_of("main", ["shop.orders"])) == 1
    edit(row, people.owner, OTHER.replace("max", "min"), version=1)
    assert aggregates_of("main", ["shop.orders"]) == []


def test_a_table_that_somebody_else_wrote_to_answers_nothing(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner)
    run = refresh_request(row, is_full=False, by="olga", now=NOW)
    row = took(row, run, types=TYPES, positions=POSITIONS)
    row.problem, row.problem_code = "somebody wrote to it.", "commits.foreign_write"
    row.save()
    (found,) = aggregates_of("main", ["shop.orders"])
    assert "somebody wrote" in found.problem
    row.problem, row.problem_code = "Spark is away.", "run.failed"
    row.save()
    (found,) = aggregates_of("main", ["shop.orders"])
    assert not found.problem, "it is behind, and that is told by its commits"
    assert msgspec.convert(row.types, Types) == TYPES


def test_an_answer_that_a_spark_driver_tells_of_counts_once(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner)
    hudi("orders", owner=people.owner.username)
    hudi("days", db="marts", owner=people.owner.username)
    asks = {"db": "shop", "table": "orders", "groups": ["dt"], "aggregates": [["count", "*"]]}
    said = {
        "execution": 3,
        "state": "FINISHED",
        "ended_at": "2026-11-28T12:00:00Z",
        "seconds": 0.5,
        "scans": [{"db": "marts", "table": "days", "bytes": 9}],
        "asked": [asks],
    }
    by_name = said | {"execution": 4, "asked": [asks | {"db": "marts", "table": "days"}]}
    address = "/api/optimizer/v1/main/spark/spark_catalog/queries"
    for _ in range(2):
        assert send(people.owner, batch(said, by_name), address=address).status_code == 202
    assert [one.n_answers for one in days_of(row)] == [1]
