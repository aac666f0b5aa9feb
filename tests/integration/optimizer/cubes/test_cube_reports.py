"""Queries that Spark answered from cubes are reported: once each, in counts, at no query's cost."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from django.test import Client
from pyspark.sql import SparkSession
from pytest_django.live_server_helper import LiveServer

from optimizer.models import Cube, CubeUse
from optimizer.usage.api import UseReportSerializer
from portal.access.models import User
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from stack.stack import Stack
from tests.component.optimizer.cubes.cube_rows import cube
from tests.component.optimizer.optimizer_rows import iceberg
from tests.support.cube_star import SOLD, Star
from tests.support.cube_tables import SqlCube
from tests.support.report_portal import ReportPortal, receiving

S = f"lake.{SOLD}"
BY_CHANNEL = f"SELECT channel, sum(qty) FROM {S} WHERE channel <> 'hidden-value' GROUP BY channel"


@pytest.fixture
def portal() -> Iterator[ReportPortal]:
    with receiving() as found:
        yield found


def built(star: Star, covered: int = 10) -> SqlCube:
    live = star.live()
    return star.cube().build({i: [one] for i, one in enumerate(live[:covered], 1)}).publish()


def reported(star: Star) -> dict[str, int]:
    catalog: Any = star.spark._jsparkSession.sessionState().catalogManager().catalog("lake")
    return dict(catalog.reported())


def counts(star: Star, *, at_least: int) -> dict[str, int]:
    """Return what was sent and lost, once so many queries are accounted for."""
    until = monotonic() + 120
    while sum((said := reported(star)).values()) < at_least:
        assert monotonic() < until, said
        sleep(0.05)
    return said


def answers(portal: ReportPortal) -> list[dict[str, Any]]:
    for body in portal.bodies:
        assert UseReportSerializer(data=body).is_valid(raise_exception=True)
    return [one for body in portal.bodies for table in body["tables"] for one in table["cubes"]]


def test_a_query_that_ran_counts_once_with_what_it_did_not_read(
    spark: SparkSession, tmp_path: Path, portal: ReportPortal
) -> None:
    star = Star(spark, tmp_path, report_uri=portal.address, report_ms="50").fill()
    built(star)
    size = sum(
        row.file_size_in_bytes for row in star.sql(f"SELECT * FROM plain.{SOLD}.files").collect()
    )
    frame = star.sql(BY_CHANNEL)
    # Planned, explained and asked why, but not run; then one that fails.
    frame._jdf.queryExecution().executedPlan()
    star.sql(f"EXPLAIN {BY_CHANNEL}").collect()
    star.why(BY_CHANNEL)
    with pytest.raises(Exception, match="wrong"):
        star.sql(
            f"SELECT raise_error(concat('wrong', n)) FROM (SELECT count(*) AS n FROM {S})"
        ).collect()
    frame.collect()
    star.sql(f"SELECT * FROM ({BY_CHANNEL}) a CROSS JOIN (SELECT max(qty) FROM {S}) b").collect()
    star.sql(f"SELECT id FROM {S} WHERE qty > (SELECT avg(qty) FROM {S})").collect()
    star.sql(f"CREATE TABLE plain.shop.sums USING iceberg AS {BY_CHANNEL}").collect()
    star.sql(f"SELECT count(*) FROM {S} WHERE note = 'n5'").collect()
    assert counts(star, at_least=4) == {"sent": 4, "lost": 0}
    sleep(0.5)
    assert reported(star) == {"sent": 4, "lost": 0}
    found = answers(portal)
    assert sum(one["queries"] for one in found) == sum(one["timed"] for one in found) == 4
    assert {one["cube"] for one in found} == {"star"}
    assert sum(one["rows"] for one in found) == 4 * 3000
    assert sum(one["bytes"] for one in found) == 4 * size
    assert sum(one["fresh_rows"] for one in found) == 0
    assert sum(one["cube_rows"] for one in found) > 0
    assert sum(one["seconds"] for one in found) > 0
    (body, *_) = portal.bodies
    assert body["reader"] == {
        "engine": "spark",
        "application": spark.sparkContext.appName,
        "user": spark.sparkContext.sparkUser(),
    }
    assert len({one["sender"] for one in portal.bodies}) == 1
    numbers = [one["sequence"] for one in portal.bodies]
    assert numbers == sorted(set(numbers))
    text = json.dumps(portal.bodies)
    assert "hidden-value" not in text
    assert "channel" not in text


def test_rows_afresh_and_bytes_of_covered_files_alone(
    spark: SparkSession, tmp_path: Path, portal: ReportPortal
) -> None:
    star = Star(spark, tmp_path, report_uri=portal.address, report_ms="50").fill()
    built(star, 8)
    covered = star.live()[:8]
    star.sql(BY_CHANNEL).collect()
    counts(star, at_least=1)
    (one,) = answers(portal)
    assert (one["rows"], one["fresh_rows"]) == (2400, 600)
    assert one["bytes"] == sum(Path(path.removeprefix("file:")).stat().st_size for path in covered)


@pytest.mark.long
def test_a_portal_that_hangs_slows_no_query_and_a_full_queue_is_counted(
    spark: SparkSession, tmp_path: Path, portal: ReportPortal
) -> None:
    star = Star(spark, tmp_path, report_uri=portal.address, report_ms="0").fill()
    built(star)
    portal.hold.clear()
    frame = star.sql(f"SELECT count(*) FROM {S}")
    for _ in range(270):
        frame.collect()
    assert reported(star)["sent"] == 0
    portal.hold.set()
    said = counts(star, at_least=270)
    assert said["sent"] + said["lost"] == 270
    assert said["lost"] > 0


def test_without_the_setting_nothing_listens(spark: SparkSession, tmp_path: Path) -> None:
    star = Star(spark, tmp_path).fill()
    built(star)
    assert star.same(BY_CHANNEL)
    manager: Any = star.spark._jsparkSession.listenerManager()
    assert not [one for one in manager.listListeners() if "cubes" in one.getClass().getName()]
    assert reported(star) == {}


@pytest.mark.django_db(transaction=True)
def test_the_portal_shows_what_spark_reports(
    spark: SparkSession,
    tmp_path: Path,
    embedded_stack: Stack,
    settings: Any,
    live_server: LiveServer,
) -> None:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    now = datetime.now(UTC)
    alice = User.objects.create_user("alice", password="lake", is_active=True)
    wish = TokenParams("spark", ("optimizer",), 9)
    (tmp_path / "token").write_text(token_make("alice", wish, user=alice, now=now).secret)
    lake = tmp_path / "lake"
    lake.mkdir()
    star = Star(
        spark,
        lake,
        report_uri=f"{live_server.url}/api/optimizer/v1/main/index-reports",
        report_token_file=str(tmp_path / "token"),
        report_ms="50",
    ).fill()
    made = built(star)
    uuid = made.definition["table"]["uuid"]
    row: Cube = cube(iceberg("sales", now=now, owner="alice", uuid=uuid), "star", now=now)
    client = Client()
    client.force_login(alice)
    client.get(f"/optimizer/cubes/{row.pk}/")  # a cold portal takes longer than a reader waits
    assert star.same(BY_CHANNEL)
    assert counts(star, at_least=1) == {"sent": 1, "lost": 0}
    use = CubeUse.objects.get(cube=row)
    assert (use.engine, use.n_queries, use.n_rows) == ("spark", 1, 3000)
    page = client.get(f"/optimizer/cubes/{row.pk}/").content.decode()
    assert str(spark.sparkContext.appName) in page
    assert "3,000" in page
