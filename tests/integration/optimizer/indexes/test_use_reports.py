"""A catalog reports what indexes saved: counts alone, in batches, and never at a query's cost."""

import json
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from pyspark.sql import SparkSession

from optimizer.usage.api import UseReportSerializer
from tests.integration.optimizer.indexes.test_indexed_changes import ALL, KINDS, made
from tests.support.indexed_tables import IndexedTables
from tests.support.report_portal import ReportPortal, receiving


@pytest.fixture
def portal() -> Iterator[ReportPortal]:
    with receiving() as found:
        yield found


def lake_of(spark: SparkSession, root: Path, uri: str, **settings: str) -> IndexedTables:
    root.mkdir(exist_ok=True)
    reporting = {"report-uri": uri, "report-ms": "50", **settings}
    lake = IndexedTables.under(spark, root, plan_ms="5000")
    for key, value in reporting.items():
        lake.spark.conf.set(f"spark.sql.catalog.indexed.lakewarden.{key}", value)
    lake.sql("SHOW NAMESPACES IN {c}", catalog="indexed").collect()
    return lake


def counts(lake: IndexedTables, *, at_least: int) -> dict[str, int]:
    """Return what was sent and lost, once so many plans are accounted for."""
    until = monotonic() + 120
    while sum((said := dict(lake.catalog.reported())).values()) < at_least:
        assert monotonic() < until, said
        sleep(0.05)
    return said


def test_counts_are_sent_in_batches_and_hold_no_value(
    spark: SparkSession, tmp_path: Path, portal: ReportPortal
) -> None:
    (tmp_path / "token").write_text("secret-of-spark\n", encoding="utf-8")
    token_file = str(tmp_path / "token")
    lake = lake_of(spark, tmp_path / "lake", portal.address, **{"report-token-file": token_file})
    table = made(lake, "reports.sums").index(KINDS)
    for where in ("id = 15", "id = 15 AND word = 'w15'", "score > 0"):
        lake.same(ALL, table=table.name, where=where)
    helped = [one for one in lake.catalog.reports() if one.dropped()]
    assert counts(lake, at_least=len(helped))["lost"] == 0
    assert set(portal.tokens) == {"Bearer secret-of-spark"}
    sums: dict[tuple[str, str], list[int]] = {}
    for body in portal.bodies:
        assert UseReportSerializer(data=body).is_valid(raise_exception=True)
        (one,) = body["tables"]
        assert one["table_uuid"] == str(table.uuid)
        for use in one["indexes"]:
            was = sums.get((use["column"], use["kind"]), [0, 0])
            sums[use["column"], use["kind"]] = [was[0] + use["plans"], was[1] + use["files"]]
        assert "15" not in json.dumps({**one, "table_uuid": "", "indexes": [
            {**use, "bytes": 0, "files": 0, "plans": 0} for use in one["indexes"]
        ]})  # fmt: skip
    assert sums["id", "bloom"][1] >= 3
    assert sums["word", "bitmap"][1] >= 1


@pytest.mark.parametrize("status", [401, 413, 500, 302])
def test_a_portal_that_refuses_is_not_asked_again(
    spark: SparkSession, tmp_path: Path, portal: ReportPortal, status: int
) -> None:
    portal.status = status
    lake = lake_of(spark, tmp_path, portal.address)
    table = made(lake, "reports.refused").index(KINDS)
    assert lake.same(ALL, table=table.name, where="id = 15") == (4, 1)
    said = counts(lake, at_least=1)
    assert (said["sent"], said["lost"]) == (0, len(portal.bodies)) == (0, 1)


def test_a_portal_that_hangs_or_is_away_slows_no_query(
    spark: SparkSession, tmp_path: Path, portal: ReportPortal
) -> None:
    portal.hold.clear()
    lake = lake_of(spark, tmp_path, portal.address)
    table = made(lake, "reports.hanging").index(KINDS)
    # More plans than wait for the portal at once: what is beyond them is counted as lost.
    for _ in range(300):
        frame = lake.sql(ALL, table=table.name, catalog="indexed", where="id = 15")
        frame._jdf.queryExecution().executedPlan()
    assert dict(lake.catalog.reported())["sent"] == 0
    portal.hold.set()
    said = counts(lake, at_least=300)
    assert said["sent"] > 0
    assert said["lost"] < 300


def test_an_address_that_is_none_is_refused_without_repeating_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    for uri in ("portal", "ftp://portal/x", "https://ada:hidden@portal/x", "http:// /"):
        with pytest.raises(Exception, match="report-uri must be an http or https") as refused:
            lake_of(spark, tmp_path, uri)
        assert "hidden" not in str(refused.value)
