"""Stock Spark reports its scans: a catalog's setting alone, no constant, and no query waits."""

import json
import uuid
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.advice.domain.scan_reports import read_scan
from optimizer.iceberg.tables.api.reports import ReportSerializer
from tests.support.report_portal import receiving

REPORTER = "lakewarden.reports.ScanReporter"


def reporting(spark: SparkSession, root: Path, uri: str) -> tuple[SparkSession, str]:
    """Return a session with a catalog that reports, and a table of it with three files."""
    session, name = spark.newSession(), f"scans_{uuid.uuid4().hex[:8]}"
    own = f"spark.sql.catalog.{name}"
    (root / "token").write_text("secret-of-spark\n", encoding="utf-8")
    for key, value in {
        own: "org.apache.iceberg.spark.SparkCatalog",
        f"{own}.type": "hadoop",
        f"{own}.warehouse": f"file:{root}/lake",
        f"{own}.metrics-reporter-impl": REPORTER,
        f"{own}.lakewarden.scan-report-uri": uri,
        f"{own}.lakewarden.report-token-file": str(root / "token"),
    }.items():
        session.conf.set(key, value)
    table = f"{name}.shop.clicks"
    session.sql(f"CREATE TABLE {table} (id BIGINT, city STRING) USING iceberg PARTITIONED BY (id)")
    session.sql(f"INSERT INTO {table} VALUES (1, 'Kiel'), (2, 'Ulm'), (3, 'Bonn')")
    return session, table


def waited(found: list[Any], n: int) -> None:
    until = monotonic() + 120
    while len(found) < n:
        assert monotonic() < until
        sleep(0.05)


def test_a_scan_is_reported_with_its_filters_and_counts(
    spark: SparkSession, tmp_path: Path
) -> None:
    with receiving() as portal:
        base = portal.address.removesuffix("index-reports") + "api/optimizer/v1/main"
        session, table = reporting(spark, tmp_path, base)
        query = f"SELECT * FROM {table} WHERE id IN (1, 3) AND city LIKE 'Kie%'"
        assert session.sql(query).count() == 1
        waited(portal.bodies, 1)
        body = portal.bodies[-1]
        assert portal.paths[-1] == ("/api/optimizer/v1/main/namespaces/shop/tables/clicks/metrics")
        assert set(portal.tokens) == {"Bearer secret-of-spark"}
    checked = ReportSerializer(data=body)
    assert checked.is_valid(raise_exception=True)
    scan = read_scan(checked.validated_data)
    kinds = {(one.column, one.kind.value) for one in scan.filters}
    assert {("id", "IN"), ("city", "prefix")} <= kinds
    assert (scan.n_files, scan.engine) == (1, "spark")
    assert "Kie" not in json.dumps(body)


@pytest.mark.parametrize("status", [401, 500])
def test_a_portal_that_refuses_costs_no_query(
    spark: SparkSession, tmp_path: Path, status: int
) -> None:
    with receiving() as portal:
        portal.status = status
        session, table = reporting(spark, tmp_path, portal.address)
        assert session.sql(f"SELECT * FROM {table}").count() == 3
        waited(portal.bodies, 1)


def test_an_address_with_a_password_is_refused_and_not_repeated(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match=r"scan-report-uri must be") as refused:
        reporting(spark, tmp_path, "http://me:hunter2@portal/")
    assert "hunter2" not in str(refused.value)


def test_a_portal_that_does_not_answer_holds_up_no_query(
    spark: SparkSession, tmp_path: Path
) -> None:
    with receiving() as portal:
        portal.hold.clear()
        session, table = reporting(spark, tmp_path, portal.address)
        for _ in range(3):
            assert session.sql(f"SELECT * FROM {table} WHERE id = 2").count() == 1
        assert portal.bodies == []
