"""Tests when an advised cube has a star-tree, and which dimensions queries read it by."""

from typing import Any

import pytest

from optimizer.advice.domain.asked import Aggregate
from optimizer.advice.domain.stars.drafts import definition_of, held_for, used_of
from optimizer.advice.domain.stars.trees import (
    MOST_READ,
    STAR_TREE,
    is_worth_a_tree,
    tree_pays,
    with_tree,
)
from optimizer.cubes.domain.drafts import draft_of, parse_draft
from optimizer.cubes.domain.estimates import SMALL_BYTES

FOUND = {"pays": True, "cube_bytes": SMALL_BYTES, "star_read": 0.1, "star_files_without": 0}


@pytest.mark.parametrize(
    ("changed", "is_worth"),
    [({}, True), ({"pays": False}, False), ({"cube_bytes": SMALL_BYTES - 1}, False)],
)
def test_a_tree_is_estimated_of_large_cubes_that_pay(
    changed: dict[str, Any], is_worth: bool
) -> None:
    assert is_worth_a_tree({**FOUND, **changed}) is is_worth


@pytest.mark.parametrize(
    ("changed", "pays"),
    [
        ({}, True),
        ({"star_read": MOST_READ}, True),
        ({"star_read": MOST_READ + 0.01}, False),
        ({"star_files_without": 1}, False),
        ({"star_read": None}, False),
    ],
)
def test_a_tree_is_taken_where_queries_read_half_or_less(
    changed: dict[str, Any], pays: bool
) -> None:
    assert tree_pays({**FOUND, **changed}) is pays


def test_queries_use_the_dimensions_that_they_need() -> None:
    held = held_for(["at", "city", "year(day)"], [Aggregate("sum", "qty")], [])
    definition = definition_of(held, "d.sales", taken=())
    treed = with_tree(definition)
    assert parse_draft(draft_of(treed), "d.sales")["star_tree"].items() >= STAR_TREE.items()
    for asked, measures, used in (
        ([], [("sum", "qty")], []),
        (["city"], [], ["city"]),
        (["date_trunc('month', at)", "year(day)"], [], ["at", "day_year"]),
        # Of the values of a dimension, without a state of its own.
        (["city"], [("max", "at"), ("sum", "qty")], ["at", "city"]),
    ):
        wanted = held_for(asked, [Aggregate(*one) for one in measures], [])
        assert held.answers(wanted)
        assert used_of(held, definition, wanted) == used
