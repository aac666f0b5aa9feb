"""A row of Trino's own table of queries is read as the event of the same query."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.queries.domain.trino_events import read_event
from optimizer.queries.domain.trino_rows import began_at, id_at, read_row
from portal.lake.errors import RuleViolation
from tests.golden.trino import CATALOG, event, events, row_of

POINT = "SELECT count(*) FROM lake.shop.ev WHERE uid = 40"
TIMES = st.integers(10**9, 7 * 10**9).map(lambda n: datetime.fromtimestamp(n, UTC))


@pytest.mark.parametrize("said", events(), ids=lambda said: said["metadata"]["query"][:40])
def test_a_row_says_what_the_event_says(said: dict[str, Any]) -> None:
    by_event = read_event(said, catalog=CATALOG)
    by_row = read_row(row_of(said), catalog=CATALOG)
    assert replace(by_row, ended_at=None) == replace(by_event, ended_at=None)
    assert by_event.ended_at is not None
    assert by_row.ended_at is not None
    # An id has whole seconds, and is made some moments before the query counts as begun.
    assert abs(by_event.ended_at - by_row.ended_at) < timedelta(seconds=3)


@pytest.mark.parametrize("inputs", [None, "", "[", "{}", '{"a":' * 9_000])
def test_inputs_that_cannot_be_read_are_said(inputs: str | None) -> None:
    found = read_row(row_of(event(POINT), inputs_json=inputs), catalog=CATALOG)
    assert (found.scans, found.is_failed) == ((), False)
    assert "`inputs_json` is no list" in found.unread
    failed = row_of(event(POINT), inputs_json=inputs, query_state="FAILED")
    assert read_row(failed, catalog=CATALOG).unread == ""


def test_a_plan_that_is_not_there_is_said() -> None:
    found = read_row(row_of(event(POINT), stage_info_json=None), catalog=CATALOG)
    assert "has no plan" in found.unread


@pytest.mark.parametrize("query_id", [None, "", "a b", "<b>", 7])
def test_an_id_that_trino_does_not_give_is_refused(query_id: object) -> None:
    with pytest.raises(RuleViolation) as refused:
        read_row(row_of(event(POINT), query_id=query_id), catalog=CATALOG)
    assert refused.value.code == "queries.event"


@pytest.mark.parametrize("millis", [None, -1, "many", 10**15])
def test_a_time_that_is_none_is_left_out(millis: object) -> None:
    found = read_row(row_of(event(POINT), wall_time_millis=millis), catalog=CATALOG)
    assert (found.seconds, found.ended_at) == (None, None)
    assert len(found.scans) == 1


@given(TIMES, TIMES)
def test_ids_are_in_the_order_in_which_queries_began(one: datetime, other: datetime) -> None:
    first, second = sorted([one, other])
    assert id_at(first) <= id_at(second)
    assert began_at(f"{id_at(one)}_00001_abcde") == one.replace(microsecond=0)
    assert id_at(one) < f"{id_at(one)}_00001_abcde"


@pytest.mark.parametrize("query_id", ["", "tomorrow", "20261301_000000_1_a", "2026"])
def test_an_id_without_a_time_has_none(query_id: str) -> None:
    assert began_at(query_id) is None
