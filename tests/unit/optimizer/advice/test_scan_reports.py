"""Tests the reading of ScanReports, as Iceberg 1.11 wrote them for scans of a real table."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.scan_reports import MOST_DEPTH, Scanned, read_scan
from portal.lake.errors import RuleViolation

CITY = {"type": "eq", "term": "city", "value": "(hash-227c7e7d)"}
OTHER_CITY = {"type": "eq", "term": "city", "value": "(hash-7ed563cd)"}
FROM_ID = {"type": "gt-eq", "term": "id", "value": "(1-digit-int)"}
PREFIX = {"type": "starts-with", "term": "city", "value": "(hash-6132d65f)"}
BUCKET = {"type": "transform", "transform": "bucket[4]", "term": "id"}


def filters(expression: object) -> dict[str, str]:
    found = read_scan({"filter": expression}).filters
    return {one.column: one.kind.value for one in found}


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ({"type": "and", "left": CITY, "right": FROM_ID}, {"city": "=", "id": "range"}),
        ({"type": "or", "left": CITY, "right": OTHER_CITY}, {"city": "IN"}),
        ({"type": "or", "left": CITY, "right": FROM_ID}, {"city": "other", "id": "other"}),
        ({"type": "not", "child": PREFIX}, {"city": "other"}),
        ({"type": "in", "term": "id", "values": ["(1-digit-int)"] * 3}, {"id": "IN"}),
        ({"type": "not-in", "term": "id", "values": ["(1-digit-int)"] * 3}, {"id": "other"}),
        ({"type": "is-null", "term": "city"}, {"city": "null"}),
        ({"type": "not-null", "term": "city"}, {"city": "null"}),
        ({"type": "is-nan", "term": "x"}, {"x": "other"}),
        ({"type": "lt", "term": "n.a", "value": "(1-digit-int)"}, {"n.a": "range"}),
        (PREFIX, {"city": "prefix"}),
        ({"type": "eq", "term": BUCKET, "value": "(1-digit-int)"}, {"id": "="}),
        (
            {"type": "eq", "term": {**BUCKET, "transform": "day"}, "value": "(date)"},
            {"id": "range"},
        ),
        ({"type": "eq", "term": {**BUCKET, "transform": "truncate[2]"}}, {"id": "other"}),
        (True, {}),
        (False, {}),
        ({"type": "literal", "value": True}, {}),
    ],
)
def test_each_condition_has_its_kind(expression: object, found: dict[str, str]) -> None:
    assert filters(expression) == found


def test_counters_and_engine_are_read() -> None:
    report = {
        "table-name": "h.d.t",
        "snapshot-id": 8,
        "filter": CITY,
        "metrics": {
            "total-planning-duration": {"count": 1, "time-unit": "nanoseconds"},
            "result-data-files": {"unit": "count", "value": 24},
            "skipped-data-files": {"unit": "count", "value": 3},
            "total-file-size-in-bytes": {"unit": "bytes", "value": 38916},
        },
        "metadata": {"engine-version": "3.5.9", "engine-name": "spark"},
    }
    city = Filter("city", FilterKind.EQUAL)
    assert read_scan(report) == Scanned((city,), 24, 3, 38916, "spark")
    assert read_scan({}) == Scanned((), 0, 0, 0, "")


def test_a_long_chain_of_or_is_a_list() -> None:
    chain: dict[str, Any] = CITY
    for _ in range(MOST_DEPTH - 2):
        chain = {"type": "or", "left": chain, "right": OTHER_CITY}
    assert filters(chain) == {"city": "IN"}


def nested(depth: int) -> dict[str, Any]:
    node: dict[str, Any] = CITY
    for _ in range(depth):
        node = {"type": "not", "child": node}
    return node


def wide(depth: int) -> dict[str, Any]:
    node: dict[str, Any] = CITY
    for _ in range(depth):
        node = {"type": "and", "left": node, "right": node}
    return node


@pytest.mark.parametrize(
    "wrong",
    [
        nested(MOST_DEPTH + 1),
        wide(14),
        {"type": "run", "term": "city"},
        {"type": ["eq"], "term": "city"},
        {"type": "eq", "term": ""},
        {"type": "eq", "term": 7},
        {"type": "eq", "term": "c" * 600},
        {"type": "eq", "term": "\ud800"},
        {"type": "and", "left": CITY},
        {"type": "or", "left": [CITY]},
        [CITY],
        "drop table",
    ],
)
def test_what_is_no_filter_of_iceberg_is_refused(wrong: object) -> None:
    with pytest.raises(RuleViolation) as refused:
        read_scan({"filter": wrong})
    assert refused.value.code == "advice.report"
    assert "ScanReportParser" in refused.value.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "left", "right", "child", "term"]), inner)
    ),
)


@given(JSON, JSON, JSON)
def test_any_json_is_read_or_refused(node: object, metrics: object, metadata: object) -> None:
    with suppress(RuleViolation):
        read_scan({"filter": node, "metrics": metrics, "metadata": metadata})
