"""A driver tells of queries over Hudi tables as it does of those over Iceberg tables."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from optimizer.advice.domain.stars.groupings import StarGrouping
from optimizer.queries.api import SparkQueriesSerializer
from optimizer.queries.domain.query_groupings import groupings_of
from optimizer.queries.domain.query_record import QueryRecord
from optimizer.queries.domain.spark_queries import SparkApplication, read_query
from tests.support.hudi_queries import CITY
from tests.support.query_teller import told
from tests.support.report_portal import receiving

pytestmark = pytest.mark.spark
BASE = "api/optimizer/v1/main"
SESSION = f"/{BASE}/spark/spark_catalog/queries"
LAKE = f"/{BASE}/spark/lake/queries"
UNTOLD = {"path", "command"}
BESIDE = "reads a subquery, or what is no table of the lake, beside it"


@dataclass
class Driver:
    """A driver that has ended, and what the portal was told by catalog."""

    queries: dict[str, list[tuple[str, dict[str, Any]]]]
    bodies: list[dict[str, Any]]
    names: list[str]

    def one(self, name: str, address: str = SESSION) -> dict[str, Any]:
        """Return what was told of a query, once."""
        (found,) = [query for told_name, query in self.queries[address] if told_name == name]
        return found

    def asked(self, name: str) -> dict[str, Any]:
        """Return what a query asks of its one table."""
        (found,) = self.one(name)["asked"]
        assert isinstance(found, dict)
        return found

    def record(self, name: str, address: str = SESSION) -> QueryRecord:
        """Return a query as the portal reads it."""
        catalog = address.split("/")[-2]
        said = self.one(name, address)
        record = read_query(said, application=SparkApplication("app"), catalog=catalog)
        assert record.unread == ""
        return record

    def groupings(self, name: str) -> list[StarGrouping]:
        """Return what the portal sums up of a query."""
        record = self.record(name)
        read = {f"{one.db}.{one.table}": one.n_bytes for one in record.scans}
        found = groupings_of(record, dict.fromkeys(read, ()), read)
        assert found.problem == ""
        return list(found.groupings)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Driver:
    """Run all queries once."""
    with receiving() as portal:
        portal.answer = lambda: 202
        base = portal.address.removesuffix("index-reports") + BASE
        lines = told(tmp_path_factory.mktemp("driver"), base, "hudi")
        queries: dict[str, list[tuple[str, dict[str, Any]]]] = {SESSION: [], LAKE: []}
        for path, body in zip(portal.paths, portal.bodies, strict=True):
            for query in body["queries"]:
                number = query["execution"]
                (name,) = [one["name"] for one in lines if one["first"] <= number < one["end"]]
                queries[path].append((name, query))
        return Driver(queries, portal.bodies, [one["name"] for one in lines])


def test_queries_of_hudi_tables_are_told_of_under_the_session_catalog(driver: Driver) -> None:
    in_lake = {name for name, _ in driver.queries[LAKE]}
    assert in_lake == {"both formats", "answered of iceberg"}
    in_session = [name for name, _ in driver.queries[SESSION]]
    assert sorted(in_session) == sorted(set(driver.names) - UNTOLD - {"answered of iceberg"}), (
        "each once"
    )
    for body in driver.bodies:
        assert SparkQueriesSerializer(data=body).is_valid(raise_exception=True)
        assert body["has_scan_reports"] is False


def test_only_texts_hold_constants(driver: Driver) -> None:
    for name, query in driver.queries[SESSION]:
        assert CITY not in json.dumps({**query, "text": ""}), name
    assert CITY in driver.one("groups")["text"]


def test_groups_aggregates_and_filters_are_told(driver: Driver) -> None:
    asked = driver.asked("groups")
    assert asked == {
        "db": "shop",
        "table": "rides",
        "select": 1,
        "filters": [["city", "="], ["qty", "range"]],
        "groups": ["dt"],
        "aggregates": [["sum", "qty"], ["count distinct", "city"], ["count", "*"]],
        "joins": [],
        "unfit": "",
    }
    (grouping,) = driver.groupings("groups")
    assert (grouping.table, grouping.refused) == ("shop.rides", "")
    assert grouping.dimensions == {"dt", "city", "qty"}
    for name, groups, filters in (
        ("frame", ["dt"], [["qty", "range"], ["city", "="]]),
        ("view", ["dt"], [["qty", "range"]]),
        ("adaptive", ["dt"], [["qty", "range"]]),
        ("rows", [], [["qty", "="]]),
        ("all rows", [], []),
    ):
        asked = driver.asked(name)
        assert (asked["groups"], asked["filters"], asked["unfit"]) == (groups, filters, ""), name
        assert driver.one(name)["names_all_tables"] is True


def test_files_bytes_and_rows_are_those_that_were_left_to_read(driver: Driver) -> None:
    (whole,) = driver.one("all rows")["scans"]
    assert (whole["db"], whole["table"], whole["files"], whole["rows"]) == ("shop", "rides", 3, 40)
    assert "snapshot" not in whole
    (part,) = driver.one("not answered")["scans"]
    assert (part["files"], part["skipped"]) == (1, 0)
    assert 0 < part["bytes"] < whole["bytes"] / 2


def test_a_table_with_log_files_is_told_as_another(driver: Driver) -> None:
    (scan,) = driver.one("logged")["scans"]
    assert (scan["table"], scan["files"], scan["rows"]) == ("logged", 3, 40)
    assert scan["bytes"] > 0
    (grouping,) = driver.groupings("logged")
    assert (grouping.table, grouping.refused) == ("shop.logged", "")
    assert grouping.dimensions == {"dt", "qty"}


def test_joins_of_hudi_tables_are_told_with_their_keys(driver: Driver) -> None:
    (grouping,) = driver.groupings("join")
    key = "fact.id=shop.stops.id"
    assert (grouping.table, grouping.refused) == ("shop.rides", "")
    assert grouping.joins == {key}
    assert grouping.dimensions == {"dt", f"shop.stops.city via {key}"}
    assert [tuple(one) for one in sorted(grouping.measures)] == [("avg", "qty"), ("sum", "price")]
    scans = driver.one("itself")["scans"]
    assert [one["table"] for one in scans] == ["rides", "rides"]
    (itself,) = driver.groupings("itself")
    assert itself.refused == "shop.rides is joined with itself"


def test_tables_of_another_catalog_are_beside(driver: Driver) -> None:
    for name in ("both formats", "crossed"):
        assert driver.asked(name)["unfit"] == BESIDE
        assert driver.one(name)["names_all_tables"] is False
        (grouping,) = driver.groupings(name)
        assert grouping.refused == f"the SELECT {BESIDE}"
    (of_iceberg,) = driver.one("both formats", LAKE)["asked"]
    assert (of_iceberg["table"], of_iceberg["unfit"]) == ("ev", BESIDE)


@pytest.mark.parametrize("name", ["older", "changes"])
def test_a_read_of_older_rows_or_of_changes_is_a_scan_without_a_grouping(
    driver: Driver, name: str
) -> None:
    (scan,) = driver.one(name)["scans"]
    assert (scan["table"], scan["files"]) == ("rides", 3)
    (grouping,) = driver.groupings(name)
    assert grouping.refused == "the SELECT reads a Hudi table not as it is now"


def test_an_answer_names_the_fact_and_scans_the_materialization(driver: Driver) -> None:
    for name, address, fact, kept in (
        ("answered", SESSION, ["rides"], ["kept"]),
        ("answered beside", SESSION, ["rides", "logged"], ["kept", "logged"]),
        # Its own catalog is told of it, for there the fact is asked for.
        ("answered of iceberg", LAKE, ["ev"], ["kept_of_ev"]),
    ):
        query = driver.one(name, address)
        assert [one["table"] for one in query["asked"]] == fact, name
        assert [one["table"] for one in query["scans"]] == kept, name
        assert query["names_all_tables"] is False
        assert driver.record(name, address).is_failed is False
    assert driver.groupings("answered") == []
    assert [one["table"] for one in driver.one("not answered")["scans"]] == ["rides"]
    itself = driver.one("kept itself")
    assert [one["table"] for one in itself["asked"]] == ["kept"]
    assert [one["table"] for one in itself["scans"]] == ["kept"]


def test_what_writes_is_told_for_what_it_reads(driver: Driver) -> None:
    for name in ("insert", "write"):
        query = driver.one(name)
        assert [one["table"] for one in query["scans"]] == ["rides"]
        assert query["names_all_tables"] is False
    failed = driver.one("failing")
    assert (failed["state"], failed["scans"], failed["asked"]) == ("FAILED", [], [])
