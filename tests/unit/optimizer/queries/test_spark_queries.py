"""What Spark's listener tells: recorded queries are read whole, and broken ones harm nothing."""

import copy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.asked import Aggregate, Asked, JoinKey
from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.queries.domain.query_record import QueryRecord
from optimizer.queries.domain.spark_queries import (
    MOST_OF_A_KIND,
    MOST_PLACES,
    MOST_TEXT,
    SparkApplication,
    read_batch,
    read_query,
)
from tests.golden.spark import APPLICATION, query, told

DRIVER = SparkApplication(
    APPLICATION["id"], APPLICATION["name"], APPLICATION["user"], APPLICATION["version"]
)


def read(said: dict[str, Any]) -> QueryRecord:
    return read_query(said, application=DRIVER, catalog="lake")


def kinds(filters: tuple[Filter, ...]) -> dict[str, set[str]]:
    """Return how each column is filtered, but for that it is asked for null besides."""
    found: dict[str, set[str]] = {}
    for one in filters:
        found.setdefault(one.column, set()).add(one.kind.value)
    return {name: said - {"null"} or said for name, said in found.items()}


# By name, for each place: table and filters. What is joined is known to be no null.
SCANS: dict[str, list[tuple[str, dict[str, set[str]]]]] = {
    "point": [("ev", {"uid": {"="}})],
    "texts": [
        ("ev", {"day": {"="}, "city": {"prefix"}, "note": {"contains"}, "props.a": {"="}}),
    ],
    "groups": [("ev", {"id": {"IN"}, "note": {"other"}})],
    "join": [
        ("ev", {"uid": {"null"}, "qty": {"range"}}),
        ("dim", {"uid": {"null"}, "name": {"prefix"}}),
    ],
    "rollup": [("ev", {})],
    "above": [("ev", {"uid": {"range"}})],
    "frame": [("ev", {"uid": {"IN"}, "city": {"other"}})],
    "adaptive": [("ev", {"qty": {"range"}})],
    "shown": [("ev", {"note": {"="}})],
    "indexed": [("ev", {"uid": {"="}})],
    "insert": [("dim", {"uid": {"="}})],
    "ctas": [("dim", {})],
    # The files that hold rows to delete, and once more which these are.
    "delete": [("copy", {"uid": {"="}}), ("copy", {"uid": {"="}, "name": {"contains"}})],
    "failing": [],
}


@pytest.mark.parametrize("name", SCANS)
def test_a_recorded_query_scanned_what_it_says(name: str) -> None:
    found = read(query(name))
    assert found.unread == ""
    assert [(one.table, kinds(one.filters)) for one in found.scans] == SCANS[name]
    assert {one.db for one in found.scans} <= {"shop"}


NAMES_ALL = {
    *("point", "texts", "join", "subquery", "rollup", "union", "frame", "indexed", "dates"),
    *("view", "scalar"),
}
NAMES_NOT_ALL = {
    *("insert", "ctas", "delete", "failing", "view of rows", "view of a file", "range", "both"),
    *("unused", "unused legacy", "folded", "beside files", "metadata too"),
}


@pytest.mark.parametrize("name", sorted(NAMES_ALL | NAMES_NOT_ALL))
def test_all_tables_are_named_only_where_it_is_sure(name: str) -> None:
    assert read(query(name)).names_all_tables is (name in NAMES_ALL)


def test_a_listener_that_does_not_say_it_names_not_all() -> None:
    said = copy.deepcopy(query("point"))
    odds: list[object] = [1, "true", []]
    for odd in odds:
        assert "names_all_tables" in read({**said, "names_all_tables": odd}).unread
    failed = read({**said, "state": "FAILED"})
    assert not failed.names_all_tables
    del said["names_all_tables"]
    assert not read(said).names_all_tables
    assert read(said).scans


def test_dates_are_grouped_by_forms_that_a_cube_may_have() -> None:
    def groups(name: str) -> tuple[str, ...]:
        (asked,) = (one for one in read(query(name)).asked if one.groups)
        return asked.groups

    assert groups("dates") == (
        "date_trunc('month', at)",
        "year(at)",
        "cast(at as date)",
        "trunc(day, 'year')",
    )
    assert groups("dates above") == ("cast(at as date)", "hour(at)")
    # What is none of the forms counts as its column.
    assert groups("odd dates") == ("at", "city", "day")
    # Times depend on the zone of the session, days do not.
    assert groups("elsewhere") == ("at", "month(day)")
    assert groups("strict") == ("day",)


def test_files_that_planning_leaves_out_are_told() -> None:
    (scan,) = read(query("insert")).scans
    (whole,) = read(query("ctas")).scans
    assert (scan.n_files, scan.n_skipped) == (2, 1)
    assert (whole.n_files, whole.n_skipped) == (2, 0)
    assert 0 < scan.n_bytes < whole.n_bytes


def test_every_recorded_query_is_read() -> None:
    for one in told():
        found = read(one["query"])
        assert found.unread == "", one["name"]
        assert (found.user, found.application) == ("analyst", "reports")
        assert found.ended_at is not None
        assert found.seconds is not None
        assert found.query_id == f"local-1:{one['query']['execution']}:lake"
    ids = [read(one["query"]).query_id for one in told()]
    assert len(set(ids)) == len(ids)


def asked(name: str) -> list[Asked]:
    return list(read(query(name)).asked)


def test_groups_and_aggregates_are_told_without_a_text() -> None:
    (one,) = asked("frame")
    assert (one.table, one.groups) == ("shop.ev", ("city",))
    assert one.aggregates == (Aggregate("sum", "qty"), Aggregate("count distinct", "uid"))
    assert kinds(one.filters) == {"uid": {"IN"}, "city": {"other"}}
    assert read(query("frame")).text == ""


def test_arithmetic_of_columns_is_told_as_it_stands() -> None:
    (one,) = asked("groups")
    assert one.groups == ("city",)
    assert set(one.aggregates) == {
        Aggregate("sum", "price * qty"),
        Aggregate("count distinct", "uid"),
        Aggregate("count", "*"),
    }


def test_a_join_is_told_from_both_sides() -> None:
    fact, dim = asked("join")
    assert (fact.table, dim.table) == ("shop.ev", "shop.dim")
    assert fact.joins == (JoinKey("uid", "shop.dim", "uid"),)
    assert dim.joins == (JoinKey("uid", "shop.ev", "uid"),)
    assert (fact.aggregates, dim.aggregates) == ((Aggregate("sum", "price"),), ())
    assert (fact.groups, dim.groups) == ((), ("name",))
    assert fact.select == dim.select
    assert fact.unfit == dim.unfit == ""


def test_a_grouping_set_groups_by_each_of_its_columns() -> None:
    (one,) = asked("rollup")
    assert set(one.groups) == {"city", "day"}
    assert one.aggregates == (Aggregate("sum", "qty"),)


def test_a_subquery_without_groups_is_part_of_its_select() -> None:
    (one,) = asked("above")
    assert one.groups == ("city",)
    assert one.filters == (Filter("uid", FilterKind.RANGE),)
    assert one.aggregates == (Aggregate("count", "*"),)


def test_a_subquery_in_a_condition_is_a_select_of_its_own_and_said() -> None:
    found = asked("subquery")
    (outer,) = [one for one in found if one.aggregates]
    (inner,) = [one for one in found if not one.aggregates]
    assert outer.unfit == "has a subquery in a condition"
    assert outer.select != inner.select
    assert kinds(inner.filters) == {"price": {"range"}}


def test_branches_of_a_union_are_selects_of_their_own() -> None:
    found = asked("union")
    assert [one.table for one in found] == ["shop.ev", "shop.dim"]
    assert len({one.select for one in found}) == 2
    assert all(one.aggregates == (Aggregate("count", "*"),) for one in found)


def test_a_query_says_who_asked_and_when() -> None:
    said = {**query("point"), "ended_at": "2026-11-27T04:34:15.528Z", "seconds": 1.5, "bytes": 7}
    found = read(said)
    assert found.ended_at == datetime(2026, 11, 27, 4, 34, 15, 528_000, tzinfo=UTC)
    assert (found.seconds, found.n_bytes, found.catalog) == (1.5, 7, "lake")
    assert found.text == "SELECT count(*) FROM lake.shop.ev WHERE uid = 40"


def test_whether_scans_are_reported_besides_is_kept() -> None:
    driver = SparkApplication("app", has_scan_reports=True)
    assert read_query(query("point"), application=driver, catalog="lake").has_own_reports
    assert not read(query("point")).has_own_reports


def test_a_long_or_odd_name_of_a_driver_still_makes_one_id() -> None:
    for odd in ("a" * 190, "with spaces", "\ud800"):
        driver = SparkApplication(odd)
        first, again, other = (
            read_query({**query("point"), "execution": number}, application=driver, catalog="lake")
            for number in (1, 1, 2)
        )
        assert first.query_id == again.query_id != other.query_id
        assert len(first.query_id) <= 100


@pytest.mark.parametrize("dropped", [(0, 0), (5, 5), (5, 2)])
def test_nothing_new_is_dropped(dropped: tuple[int, int]) -> None:
    assert read_batch([], application=DRIVER, catalog="lake", dropped=dropped).n_dropped == 0


WRONG: list[tuple[tuple[Any, ...], Any]] = [
    (("state",), "RUNNING"),
    (("state",), ["FINISHED"]),
    (("seconds",), -1),
    (("seconds",), float("nan")),
    (("seconds",), True),
    (("seconds",), 10**30),
    (("ended_at",), "2026-11-27T04:34:15"),
    (("ended_at",), 3),
    (("ended_at",), "yesterday"),
    (("bytes",), -1),
    (("bytes",), 2**70),
    (("text",), "x" * (MOST_TEXT + 1)),
    (("text",), {"a": 1}),
    (("scans",), {}),
    (("scans",), [3]),
    (("scans",), [{}] * (MOST_PLACES + 1)),
    (("scans", 0, "table"), ""),
    (("scans", 0, "table"), "t" * 600),
    (("scans", 0, "table"), "a\nb"),
    (("scans", 0, "db"), None),
    (("scans", 0, "files"), 1.5),
    (("scans", 0, "filters"), [["uid", "="]] * (MOST_OF_A_KIND + 1)),
    (("scans", 0, "filters"), [["uid", "40"]]),
    (("scans", 0, "filters"), [["uid"]]),
    (("scans", 0, "filters"), [[["uid"], "="]]),
    (("asked", 0, "groups"), [None]),
    (("asked", 0, "groups"), "city"),
    (("asked", 0, "aggregates"), [["", "a"]]),
    (("asked", 0, "joins"), [["a", "b"]]),
    (("asked", 0, "select"), "1"),
    (("asked", 0, "unfit"), "x" * 5_000),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_what_is_wrong_is_said_and_not_read(path: tuple[Any, ...], value: object) -> None:
    said = copy.deepcopy(query("groups"))
    node: Any = said
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    found = read(said)
    assert f"`{path[0] if len(path) == 1 else path[-1]}`" in found.unread or len(path) == 1
    assert found.unread.endswith("the same release.")
    assert (found.scans, found.asked) == ((), ())


@pytest.mark.parametrize("number", [None, "7", -1, True, 2**70, [1]])
def test_a_query_without_a_number_is_one_by_all_that_it_says(number: object) -> None:
    said = {**query("point"), "execution": number}
    first, again, other = read(said), read(dict(said)), read({**said, "bytes": 1})
    assert "`execution`" in first.unread
    assert first.query_id == again.query_id != other.query_id
    assert first.scans == ()


def test_what_the_listener_could_not_read_is_said() -> None:
    found = read({**query("point"), "unread": "The plan has too many nodes."})
    assert (found.unread, found.scans) == ("The plan has too many nodes.", ())


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


@given(st.data())
def test_no_tree_of_json_breaks_the_reader(data: st.DataObject) -> None:
    said = copy.deepcopy(query(data.draw(st.sampled_from(["join", "groups", "point"]))))
    nodes: list[Any] = [said]
    node: Any = said
    while isinstance(node, dict | list) and node:
        nodes.append(node)
        key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else [0]))
        node = node[key]
    broken = data.draw(st.sampled_from(nodes))
    key = data.draw(st.sampled_from(sorted(broken) if isinstance(broken, dict) else [0]))
    broken[key] = data.draw(TREES)
    found = read(said)
    assert len(found.query_id) <= 100
    assert len(found.unread) <= 1000
    assert not found.unread or found.scans == ()
    for scan in found.scans:
        assert scan.n_skipped is not None
        assert 0 <= scan.n_skipped <= scan.n_files
