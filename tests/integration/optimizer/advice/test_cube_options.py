"""From recorded queries of a real star schema to a cube that pays, and is declared."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bench.cube_ssb import QUERIES, fill
from optimizer.advice.domain.asked import asked_in
from optimizer.advice.domain.layout_advice import NoProposal
from optimizer.advice.domain.stars.cube_advice import (
    CubeOption,
    RecordedGrouping,
    Scanned,
    candidates,
    decide_cube,
)
from optimizer.advice.domain.stars.drafts import definition_of
from optimizer.advice.domain.stars.groupings import star_groupings
from optimizer.advice.jobs import layout
from optimizer.cubes.domain.definition import as_json, parse
from optimizer.iceberg.access.jobs.iceberg import open_table
from optimizer.pruning.domain.uses import Names
from tests.support.iceberg_lake import IcebergLake
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
SIZES = {
    "ssb.lineorder": 9_000,
    "ssb.part": 90,
    "ssb.customer": 9,
    "ssb.supplier": 5,
    "ssb.date": 3,
}


@pytest.fixture
def star(iceberg_lake: IcebergLake) -> IcebergLake:
    """The Star Schema Benchmark with 120,000 line orders in four files."""
    spark = iceberg_lake.spark
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.ssb LOCATION '{iceberg_lake.root}_ssb'")
    if not spark.catalog.tableExists("lake.ssb.lineorder"):
        fill(spark, "lake", scale=0.02, files=4)
    return iceberg_lake


def recorded(lake: IcebergLake, numbers: str) -> list[RecordedGrouping]:
    """What 10 runs of some of the benchmark's queries on three days ask."""
    columns = {name: frozenset(lake.spark.table(f"lake.{name}").columns) for name in SIZES}
    found = []
    for number in numbers.split():
        sql = QUERIES[number].format(**{name.partition(".")[2]: f"lake.{name}" for name in SIZES})
        asked = asked_in(sql, "spark", Names("lake"), columns)
        (one,) = star_groupings(asked, SIZES)
        days = frozenset(NOW.date() - timedelta(days=day) for day in range(3))
        found.append(
            RecordedGrouping(
                number,
                one.dimensions,
                one.measures,
                one.joins,
                10,
                10**9,
                days=days,
                refused=one.refused,
            )
        )
    return found


def looked(lake: IcebergLake, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
    fact = open_table(lake.spark, "ssb", "lineorder")
    row = {
        **{"id": 7, "db": "ssb", "table": "lineorder", "uuid": fact.uuid, "target_bytes": 1 << 27},
        **{"shapes": [], "n_days": 3, "candidates": [], "cubes": orders},
    }
    job = job_for(lake.spark, lake.config, {"tables": [row]}, now=NOW)
    (found,) = layout.run(lake.spark, job)["tables"]
    assert "problem" not in found, found
    cubes: list[dict[str, Any]] = found["cubes"]
    return cubes


def test_recorded_queries_of_a_star_become_a_cube_that_pays(star: IcebergLake) -> None:
    groupings = recorded(star, "1.1 1.2 1.3 2.1 2.2 2.3")
    tried, _ = candidates(groupings, [])
    orders = [{"definition": definition_of(one.held, "ssb.lineorder", taken=())} for one in tried]
    found = looked(star, orders)
    options = [
        CubeOption(
            made["definition"]["name"],
            one.n_queries,
            one.n_days,
            one.n_bytes,
            cube_rows=made["cube_rows"],
            cube_bytes=made["cube_bytes"],
            table_bytes=made["n_bytes"],
            build_seconds=made["build_seconds"],
            refused=made["problem"],
        )
        for one, made in zip(tried, found, strict=True)
    ]
    judged = decide_cube(options, Scanned(6 * 10**9, 3))
    assert not isinstance(judged, NoProposal), judged
    chosen = found[judged.place]
    assert (chosen["problem"], chosen["pays"]) == ("", True)
    assert chosen["cube_rows"] < 120_000 / 3
    assert judged.expected < 0.6
    # What is stored of it is complete: engines need neither the portal nor a look at the schemas.
    stored = parse(as_json(parse(chosen["definition"])))
    assert stored.is_resolved()
    assert {one.table for one in stored.joins} <= SIZES.keys()


def test_a_key_that_is_there_twice_refuses_the_cube_without_its_value(star: IcebergLake) -> None:
    spark = star.spark
    spark.sql("CREATE OR REPLACE TABLE lake.ssb.twice USING iceberg AS "
              "SELECT * FROM lake.ssb.supplier UNION ALL SELECT * FROM lake.ssb.supplier "
              "WHERE s_key = 4 OR s_key = 7")  # fmt: skip
    (one,) = recorded(star, "2.3")
    held = one.wanted
    definition = definition_of(held, "ssb.lineorder", taken=())
    for join in definition["joins"]:
        join["table"] = join["table"].replace("ssb.supplier", "ssb.twice")
    gone = {**definition, "dimensions": [{"name": "x", "expression": "fact.no_such"}], "joins": []}
    first, second = looked(star, [{"definition": definition}, {"definition": gone}])
    assert first["problem"] == (
        "ssb.twice has a key several times, so sums over the join would be counted twice."
    )
    assert "has no column no_such" in second["problem"]
