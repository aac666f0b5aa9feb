"""Stock Spark tells of its queries by settings alone: what they read and ask, and at no cost."""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from optimizer.queries.api import SparkQueriesSerializer
from tests.golden.spark import told as golden
from tests.support.query_teller import MANY, SECRET, named, told
from tests.support.report_portal import ReportPortal, receiving

BASE = "api/optimizer/v1/main"
UNTOLD = {"metadata", "command", "nothing", "others", "disabled"}
# What differs from run to run: numbers, times, and sizes of files.
CHANGING = ("execution", "ended_at", "seconds", "bytes")


@dataclass
class Driver:
    """A driver that has ended, and what came of it."""

    portal: ReportPortal
    queries: list[tuple[str, dict[str, Any]]]
    names: list[str]

    def batches(self) -> list[dict[str, Any]]:
        return [one for one in self.portal.bodies if "queries" in one]

    def of(self, name: str) -> list[dict[str, Any]]:
        return [query for one, query in self.queries if one == name]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """Run all queries once; the portal is away at first."""
    with receiving() as portal:
        base = portal.address.removesuffix("index-reports") + BASE
        answers = iter([503, 503])
        portal.answer = lambda: next(answers, 202)
        root = tmp_path_factory.mktemp("driver")
        lines = told(root, base, "queries", reporter="lakewarden.reports.ScanReporter")
        portal.bodies = _once(portal.bodies)
        yield Driver(portal, named(portal, lines), [one["name"] for one in lines])


def _once(bodies: list[Any]) -> list[Any]:
    """Return each body once: what was refused came again as it was."""
    texts = dict.fromkeys(json.dumps(one) for one in bodies)
    assert len(texts) < len(bodies), "nothing was sent again"
    return [json.loads(one) for one in texts]


def test_every_query_of_the_lake_is_told_of_once(driver: Driver) -> None:
    told_names = {name for name, _ in driver.queries}
    assert told_names == set(driver.names) - UNTOLD
    numbers = [(one["execution"]) for _, one in driver.queries]
    assert len(numbers) == len(set(numbers))
    assert len(driver.of("twice")) == 2, "a query that runs twice is two"
    assert len(driver.of("ctas")) == 1


def test_it_comes_with_the_token_to_the_address_of_its_catalog(driver: Driver) -> None:
    assert set(driver.portal.tokens) == {"Bearer secret-of-spark"}
    paths = {f"/{BASE}/spark/{name}/queries" for name in ("lake", "indexed")}
    assert {one for one in driver.portal.paths if "/spark/" in one} == paths


def test_the_portal_understands_what_is_told(driver: Driver) -> None:
    for body in driver.batches():
        assert SparkQueriesSerializer(data=body).is_valid(raise_exception=True)
        assert body["application"]["version"] == "3.5.9"
        assert body["dropped"] == 0


def test_a_catalog_that_posts_scan_reports_says_so(driver: Driver) -> None:
    flags = {body["queries"][0]["text"]: body["has_scan_reports"] for body in driver.batches()}
    assert flags.pop("SELECT id FROM indexed.shop.ev WHERE uid = 8")
    assert flags, "of the other catalog nothing came"
    assert not any(flags.values())
    assert sum("/metrics" in one for one in driver.portal.paths) == 1


def test_only_texts_hold_constants(driver: Driver) -> None:
    for name, query in driver.queries:
        said = json.dumps({**query, "text": ""})
        assert SECRET not in said, name
    assert driver.of("untold text")[0]["text"] == ""
    assert SECRET in driver.of("join")[0]["text"]
    assert driver.of("frame")[0]["text"] == ""
    assert driver.of("shown")[0]["text"].startswith("SELECT id FROM lake.shop.ev")
    assert driver.of("insert")[0]["text"].startswith("INSERT INTO lake.shop.copy")


def test_a_failed_query_is_told_without_its_scans(driver: Driver) -> None:
    states = {name: query["state"] for name, query in driver.queries}
    assert states.pop("failing") == "FAILED"
    assert set(states.values()) == {"FINISHED"}
    assert driver.of("failing")[0]["scans"] == []


def test_recorded_queries_are_what_spark_tells(driver: Driver) -> None:
    """The unit tests read a recording; this is where it would differ from a newer listener."""

    def kept(query: dict[str, Any]) -> dict[str, Any]:
        scans = [{k: v for k, v in one.items() if k not in ("snapshot", "bytes")}
                 for one in query["scans"]]  # fmt: skip
        return {k: v for k, v in query.items() if k not in CHANGING} | {"scans": scans}

    recorded = [(one["name"], kept(one["query"])) for one in golden()]
    assert [(name, kept(query)) for name, query in driver.queries] == recorded


@pytest.mark.long
def test_two_thousand_queries_do_not_wait_for_a_portal_that_is_away(tmp_path: Path) -> None:
    with receiving() as portal:
        portal.hold.clear()
        base = portal.address.removesuffix("index-reports") + BASE
        (line,) = told(tmp_path, base, "many")
    took, counts = line["took"], line["counts"]["lake"]
    assert len(took) == MANY
    # What does not fit in is dropped at once; the last queries took no longer than the first.
    assert counts["sent"] == 0
    assert counts["waiting"] <= 1_000
    assert counts["dropped"] >= MANY - 1_000 - 50
    assert counts["dropped"] + counts["waiting"] <= MANY
    early, late = (statistics.median(one) for one in (took[200:600], took[-400:]))
    assert late < 2 * early + 0.01
