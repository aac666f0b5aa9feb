"""Trino's events: recorded ones say what their queries scanned, and broken ones harm nothing."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.queries.domain.query_record import QueryRecord
from optimizer.queries.domain.trino_events import MOST_SCANS, read_event
from optimizer.queries.domain.trino_filters import MOST_DEPTH, domain_kind, predicate_filters
from portal.lake.errors import RuleViolation
from tests.golden.trino import CATALOG, event, events

# What each recorded query scanned, by how it begins: table, filters, the share of rows read.
EXPECTED: dict[str, list[tuple[str, dict[str, str], float]]] = {
    "CREATE VIEW v_ev": [],
    "SELECT count(*) FROM lake.shop.ev WHERE uid = 40": [("ev", {"uid": "="}, 1.0)],
    "SELECT uid, price FROM lake": [("ev", {"day": "=", "uid": "IN"}, 1 / 3)],
    "SELECT sum(price) FROM ev WHERE ts": [("ev", {"ts": "range"}, 1.0)],
    "SELECT id FROM ev WHERE city LIKE": [("ev", {"city": "prefix", "note": "contains"}, 1.0)],
    "SELECT id FROM ev WHERE lower": [("ev", {"props.a": "=", "city": "other"}, 1 / 3)],
    "SELECT id FROM ev WHERE id = 7 OR": [("ev", {"id": "other", "uid": "other"}, 1.0)],
    "SELECT id FROM ev WHERE uid = 7 OR": [("ev", {"uid": "range"}, 1.0)],
    "SELECT d.name, sum(e.price)": [
        ("dim", {"name": "="}, 1.0),
        ("ev", {"uid": "dynamic"}, 1.0),
    ],
    "SELECT city, count(*) c": [("ev", {"price": "range", "qty": "range"}, 1.0)],
    # A view's own filter is the scan's too.
    "SELECT * FROM v_ev": [("ev", {"city": "=", "uid": "="}, 1.0)],
    "WITH big AS": [
        ("ev", {"price": "range"}, 1.0),
        ("ev", {"city": "null", "uid": "dynamic"}, 1.0),
    ],
    "SELECT id FROM ev WHERE uid <> 4": [
        ("ev", {"city": "null", "uid": "other", "note": "prefix"}, 1.0)
    ],
    'SELECT count(*) FROM "ev$files"': [],
    "INSERT INTO dim": [("ev", {"uid": "="}, 1.0)],
    "CREATE TABLE shop.ctas": [("ev", {"id": "range"}, 1 / 3)],
    "SELECT nothing": [],
    "SELECT 1 / (uid - uid)": [],
    "SELECT count(*) FROM ev WHERE uid = (": [("dim", {}, 1.0), ("ev", {"uid": "dynamic"}, 1.0)],
    "DELETE FROM dim": [("dim", {"uid": "="}, 40 / 65)],
    "SHOW TABLES": [],
    "SELECT id FROM ev WHERE uid IN (": [
        ("dim", {"name": "prefix"}, 50 / 65),
        ("ev", {"uid": "dynamic"}, 1.0),
    ],
    "SELECT id FROM ev WHERE qty = 2": [
        ("ev", {"bool_col": "=", "dbl": "range", "price": "=", "qty": "="}, 1.0)
    ],
    "SELECT id FROM ev WHERE city IN": [("ev", {"city": "IN", "uid": "other"}, 1.0)],
    "SELECT id FROM ev WHERE city > 'm'": [("ev", {"city": "range", "uid": "other"}, 1.0)],
}


def read(said: dict[str, Any]) -> QueryRecord:
    return read_event(said, catalog=CATALOG)


@pytest.mark.parametrize("begins", EXPECTED)
def test_a_recorded_query_scanned_what_it_says(begins: str) -> None:
    query = read(event(begins))
    found = [
        (one.table, {each.column: each.kind.value for each in one.filters}) for one in query.scans
    ]
    assert found == [(table, filters) for table, filters, _ in EXPECTED[begins]]
    shares = [share for _, _, share in EXPECTED[begins]]
    assert [one.share for one in query.scans] == pytest.approx(shares)
    assert query.unread == ""


def test_every_recorded_event_is_looked_at() -> None:
    texts = [one["metadata"]["query"] for one in events()]
    plain = "SELECT count(*) FROM ev"
    assert all(text == plain or any(text.startswith(b) for b in EXPECTED) for text in texts)
    (whole,) = [read(one) for one in events() if one["metadata"]["query"] == plain]
    assert [(one.table, one.filters, one.n_bytes) for one in whole.scans] == [("ev", (), 0)]


def test_it_says_who_asked_what_and_how_long_it_took() -> None:
    query = read(event("SELECT id FROM ev WHERE lower(city)"))
    assert query.text.startswith("SELECT id FROM ev WHERE lower(city)")
    assert (query.user, query.application, query.default_db) == ("analyst", "", "shop")
    assert (query.seconds, query.n_bytes) == (1.138, 16_589)
    assert query.ended_at == datetime(2026, 11, 27, 4, 34, 15, 528_000, tzinfo=UTC)


@pytest.mark.parametrize("wall", [True, -1, "3", 10**30, float("nan"), None])
def test_a_time_that_is_none_is_not_known(wall: object) -> None:
    said = event("SELECT id FROM ev WHERE lower(city)")
    strange = {**said, "statistics": {"wallTime": wall}, "endTime": "2026-11-27T04:34:15"}
    query = read(strange)
    assert (query.seconds, query.ended_at, query.n_bytes) == (None, None, 0)


def test_a_failed_query_is_told_from_one_that_ended() -> None:
    assert read(event("SELECT 1 / (uid - uid)")).is_failed
    assert not read(event("SHOW TABLES")).is_failed


def test_bytes_and_files_of_a_table_read_twice_are_parted() -> None:
    scans = read(event("WITH big AS")).scans
    assert [one.n_bytes for one in scans] == [49_824, 49_824]
    assert {one.n_files for one in scans} == {9}


def test_another_catalog_is_none_of_ours() -> None:
    query = read_event(event("SELECT count(*) FROM lake.shop.ev"), catalog="other")
    assert (query.scans, query.unread) == ((), "")


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (None, "no plan"),
        (7, "no plan"),
        ("{", "no JSON"),
        ("[" * 200_000, "too deep"),
        ("{}", "shop.ev is read"),
        ("null", "shop.ev is read"),
    ],
)
def test_a_plan_that_cannot_be_read_is_said(payload: object, said: str) -> None:
    broken = event("SELECT count(*) FROM lake.shop.ev")
    broken["metadata"]["payload"] = payload
    query = read(broken)
    assert said in query.unread
    assert not query.scans


def test_a_plan_of_endless_scans_is_left() -> None:
    many = event("SELECT count(*) FROM lake.shop.ev")
    plan = json.loads(many["metadata"]["payload"])
    many["metadata"]["payload"] = json.dumps([plan] * (MOST_SCANS + 1))
    assert "more than 256 places" in read(many).unread


@pytest.mark.parametrize(
    "metadata", [{}, {"queryId": ""}, {"queryId": 3}, {"queryId": "q" * 101}, {"queryId": "\ud800"}]
)
def test_what_is_no_event_is_refused(metadata: dict[str, Any]) -> None:
    with pytest.raises(RuleViolation, match="no event of a completed query"):
        read({"metadata": metadata})


def test_a_predicate_nested_too_deep_is_refused() -> None:
    node: dict[str, Any] = {"@type": "reference", "name": "a"}
    for _ in range(MOST_DEPTH + 1):
        node = {"@type": "logical", "operator": "AND", "terms": [node]}
    with pytest.raises(RuleViolation, match="levels"):
        predicate_filters(node, {"a": "a"})


def constant() -> dict[str, Any]:
    return {"@type": "constant", "value": "c2VjcmV0"}


A, B = ({"@type": "reference", "name": name} for name in "ab")


@pytest.mark.parametrize(
    ("node", "kinds"),
    [
        ({"@type": "comparison", "operator": "EQUAL", "left": A, "right": B}, "a other, b other"),
        ({"@type": "comparison", "operator": "IDENTICAL", "left": constant(), "right": A}, "a ="),
        ({"@type": "between", "value": A, "min": B, "max": constant()}, "a other, b other"),
        ({"@type": "in", "value": A, "valueList": [constant()]}, "a ="),
        ({"@type": "in", "value": A, "valueList": [constant(), B]}, "a other, b other"),
        ({"@type": "cast", "expression": A}, "a other"),
        ({"@type": "call", "function": {}, "arguments": []}, ""),
        ({"@type": "call", "function": 3, "arguments": [A]}, "a other"),
        (constant(), ""),
        ({"@type": "reference", "name": "unknown"}, ""),
        ({"@type": "future", "of": [A, {"x": B}]}, "a other, b other"),
    ],
)
def test_what_compares_columns_or_is_new_names_its_columns(
    node: dict[str, Any], kinds: str
) -> None:
    found = predicate_filters(node, {"a": "a", "b": "b"})
    assert sorted(f"{one.column} {one.kind}" for one in found) == sorted(
        kinds.split(", ") if kinds else []
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"@type": "sortable", "inclusive": [True] * 2, "discreteSetMarker": "DISCRETE"}, "="),
        ({"@type": "sortable", "inclusive": [True] * 4, "discreteSetMarker": "DISCRETE"}, "IN"),
        (
            {"@type": "sortable", "inclusive": [True, False], "discreteSetMarker": "UNKNOWN"},
            "range",
        ),
        ({"@type": "sortable", "inclusive": []}, "null"),
        ({"@type": "allOrNone", "all": True}, "null"),
        ({"@type": "equatable", "inclusive": True}, "IN"),
        (None, "range"),
    ],
)
def test_a_domain_says_how_it_narrows(values: object, kind: str) -> None:
    assert domain_kind({"values": values}) == kind


_WORDS = [
    *("@type", "table", "connectorHandle", "assignments", "predicate", "source", "name", "terms"),
    *("arguments", "value", "left", "right", "columnDomains", "catalogHandle"),
]
_KINDS = ["tableScan", "filter", "logical", "call", "iceberg:x", "lake:"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_WORDS), inner | st.sampled_from(_KINDS), max_size=4)
    ),
    max_leaves=25,
)


@given(plan=JSON, inputs=JSON, context=JSON)
def test_no_event_breaks_the_reader(plan: object, inputs: object, context: object) -> None:
    said = {
        "metadata": {"queryId": "q", "queryState": "FINISHED", "payload": json.dumps(plan)},
        "context": {"queryType": "SELECT"} if context else context,
        "ioMetadata": {
            "inputs": [
                inputs,
                {"connectorName": "iceberg", "catalogName": CATALOG, "schema": "s", "table": "t"},
            ]
        },
    }
    query = read(said)
    assert query.unread or not query.scans


@given(st.sampled_from(events()))
def test_no_constant_is_in_what_is_read(said: dict[str, Any]) -> None:
    names = {"id", "uid", "day", "ts", "city", "note", "price", "qty", "props.a", "bool_col"}
    for scan in read(said).scans:
        assert {one.column for one in scan.filters} <= names | {"dbl", "name"}
