"""Layers run after what they read, no circle is taken, and a target is as far as its upstreams."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.incremental.domain.graph import (
    Mark,
    below,
    chain_of,
    check_graph,
    find_cycle,
    is_passed,
    least,
    run_order,
)
from portal.lake.errors import RuleViolation

NAMES = [f"db.t{n}" for n in range(8)]
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
GRAPHS = st.dictionaries(
    st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3, unique=True)
)


def _reaches(graph: dict[str, list[str]], start: str, goal: str) -> bool:
    seen: set[str] = set()
    following = list(graph.get(start, ()))
    while following:
        one = following.pop()
        if one == goal:
            return True
        if one not in seen:
            seen.add(one)
            following += graph.get(one, ())
    return False


@given(GRAPHS)
def test_an_order_is_found_or_a_circle_that_is_one(graph: dict[str, list[str]]) -> None:
    circle = find_cycle(graph)
    has_circle = any(_reaches(graph, one, one) for one in graph)
    assert bool(circle) is has_circle
    if circle:
        assert circle[0] == circle[-1]
        for upstream, target in itertools.pairwise(circle):
            assert upstream in graph[target]
        with pytest.raises(RuleViolation, match=" -> ") as caught:
            run_order(graph)
        assert caught.value.fields["path"] == list(circle)
        return
    order = run_order(graph)
    assert sorted(order) == sorted(graph)
    for target, sources in graph.items():
        for one in sources:
            if one in graph:
                assert order.index(one) < order.index(target)


@given(GRAPHS, st.sampled_from(NAMES))
def test_what_is_below_a_table_is_made_of_it(graph: dict[str, list[str]], table: str) -> None:
    assert below(graph, table) == {one for one in graph if _reaches(graph, one, table)}


@given(GRAPHS.filter(lambda one: not find_cycle(one)), st.sampled_from(NAMES))
def test_a_chain_is_a_target_with_all_that_it_is_made_of(
    graph: dict[str, list[str]], table: str
) -> None:
    chain = chain_of(graph, table)
    own = {one for one in graph if _reaches(graph, table, one)} | ({table} & graph.keys())
    assert set(chain) == (own if table in graph else set())


def test_two_layers_of_one_target_are_refused() -> None:
    with pytest.raises(RuleViolation) as caught:
        check_graph([("a.x", ["a.s"]), ("a.x", ["a.t"])])
    assert caught.value.code == "layer.target"


def test_a_circle_is_named_in_the_direction_of_the_data() -> None:
    graph = {"a.x": ["a.z"], "a.y": ["a.x"], "a.z": ["a.y", "a.s"]}
    assert find_cycle(graph) == ("a.x", "a.y", "a.z", "a.x")


@given(st.dictionaries(st.sampled_from(NAMES), st.none() | st.integers(-99, 99), min_size=1))
def test_a_target_is_as_far_as_the_upstream_that_is_least_far(hours: dict[str, int | None]) -> None:
    marks = {
        name: Mark(None, "not loaded") if n is None else Mark(NOON + timedelta(hours=n))
        for name, n in hours.items()
    }
    found = least(marks)
    for n in range(-100, 101, 25):
        end = NOON + timedelta(hours=n)
        assert is_passed(found, end) is all(is_passed(one, end) for one in marks.values())
    if found.at is None:
        assert found.reason.endswith(": not loaded")


def test_without_upstreams_nobody_knows() -> None:
    assert least({}) == Mark(None, "it has no upstream")
