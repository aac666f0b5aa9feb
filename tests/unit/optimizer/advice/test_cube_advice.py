"""Tests which cubes are tried for what queries group by, and which of them is advised."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cube_ssb import QUERIES
from optimizer.advice.domain.asked import Aggregate, asked_in
from optimizer.advice.domain.layout_advice import NoProposal
from optimizer.advice.domain.stars.cube_advice import (
    CANDIDATES,
    CubeOption,
    CubeProposal,
    RecordedGrouping,
    Scanned,
    candidates,
    decide_cube,
    has_answered,
)
from optimizer.advice.domain.stars.drafts import definition_of, held_by, held_for
from optimizer.advice.domain.stars.groupings import ALL_ROWS, star_groupings
from optimizer.cubes.domain.definition import MAX_DIMENSIONS
from optimizer.cubes.domain.drafts import draft_of, parse_draft
from optimizer.matching.domain.blocks import candidates_of, read_block
from optimizer.matching.domain.matches import match
from optimizer.matching.domain.reading import read_query
from optimizer.matching.domain.views import Schema, View, ViewDimension, ViewJoin, ViewMeasure
from optimizer.pruning.domain.uses import Names
from tests.unit.optimizer.advice.ssb import SIZES, ssb_columns

GB = 10**9
DAYS = frozenset(range(7))


def recorded(
    digest: str, dimensions: str, *measures: str, n: int = 30, n_bytes: int = 30 * GB, **other: Any
) -> RecordedGrouping:
    told = [one.rpartition(" ") for one in measures] or [("count", "", "*")]
    return RecordedGrouping(
        digest,
        frozenset(dimensions.split()),
        frozenset(Aggregate(function, column) for function, _, column in told),
        frozenset(),
        n,
        n_bytes,
        days=other.pop("days", DAYS),
        **other,
    )


def ssb() -> list[RecordedGrouping]:
    found = []
    for number, sql in QUERIES.items():
        text = sql.format(**{name.partition(".")[2]: f"lake.{name}" for name in SIZES})
        asked = asked_in(text, "trino", Names("lake", None, "ssb"), ssb_columns())
        (one,) = star_groupings(asked, SIZES)
        found.append(
            RecordedGrouping(
                number, one.dimensions, one.measures, one.joins, 10, 10 * GB, days=DAYS
            )
        )
    return found


def test_queries_of_a_star_become_cubes_that_hold_them() -> None:
    groupings = ssb()
    found, held = candidates(groupings, [])
    assert held == []
    assert 1 <= len(found) <= CANDIDATES
    assert {"2.1", "2.2", "2.3", "3.1"} <= {one.digest for one in found[0].answered}
    for one in found:
        definition = definition_of(one.held, "ssb.lineorder", taken=())
        # It is what a person could have typed.
        assert parse_draft(draft_of(definition), "ssb.lineorder") == definition
        assert held_by(definition) == one.held
        again, held = candidates(groupings, [held_by(definition)])
        assert {each.digest for each in held} >= {each.digest for each in one.answered}
        assert all(each.held != one.held for each in again)


def type_of(column: str) -> str:
    texts = ("lo_orderpriority", "lo_shipmode", "d_yearmonth")
    is_text = column in texts or (column[:2] in ("c_", "s_", "p_") and not column.endswith("_key"))
    return "string" if is_text else "int"


def test_the_rules_by_which_queries_are_answered_accept_what_is_tried() -> None:
    schema = Schema(
        {name: {one: type_of(one) for one in columns} for name, columns in ssb_columns().items()},
        # Arithmetic is answered where it cannot overflow.
        {"ssb.lineorder": dict.fromkeys(ssb_columns()["ssb.lineorder"], (0, 40_000))},
    )
    for one in candidates(ssb(), [])[0]:
        definition = definition_of(one.held, "ssb.lineorder", taken=())
        view = View(
            definition["name"],
            "ssb.lineorder",
            tuple(
                ViewJoin(each["alias"], each["table"], tuple(map(tuple, each["on"])))
                for each in definition["joins"]
            ),
            tuple(
                ViewDimension(
                    each["name"], each["expression"], type_of(each["expression"].partition(".")[2])
                )
                for each in definition["dimensions"]
            ),
            tuple(
                ViewMeasure(each["name"], each["expression"], "int", frozenset(each["functions"]))
                for each in definition["measures"]
            ),
        )
        for asked in one.answered:
            sql = QUERIES[asked.digest].format(**{name.partition(".")[2]: name for name in SIZES})
            (select,) = candidates_of(read_query(sql, "trino"), lambda table: f"ssb.{table.name}")
            found = match(read_block(select, schema, "trino"), view, schema, "trino")
            assert len(found.used) == len(asked.dimensions)


NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"])
MEASURES = st.sampled_from(
    [ALL_ROWS, Aggregate("sum", "x"), Aggregate("avg", "y"), Aggregate("count distinct", "a")]
)
GROUPINGS = st.lists(
    st.builds(
        RecordedGrouping,
        digest=st.uuids().map(str),
        dimensions=st.frozensets(NAMES, max_size=6),
        measures=st.frozensets(MEASURES, min_size=1),
        joins=st.just(frozenset()),
        n_queries=st.integers(1, 60),
        n_bytes=st.integers(0, 10 * GB),
        days=st.frozensets(st.integers(0, 5), min_size=1),
    ),
    max_size=25,
)


@given(GROUPINGS)
def test_a_merged_candidate_answers_every_grouping_that_it_counts(
    groupings: list[RecordedGrouping],
) -> None:
    found, _ = candidates(groupings, [])
    assert len(found) <= CANDIDATES
    assert len({one.held for one in found}) == len(found)
    for one in found:
        assert 1 <= len(one.held.dimensions) <= MAX_DIMENSIONS
        assert one.n_queries >= 20
        assert one.n_days >= 3
        for each in one.answered:
            assert one.held.dimensions >= each.dimensions
            assert one.held.answers(each.wanted)
        answered = {each.digest for each in one.answered}
        assert not [
            each
            for each in groupings
            if each.digest not in answered and one.held.answers(each.wanted)
        ]
        definition = definition_of(one.held, "d.t", taken={"by_a"})
        assert held_by(definition).answers(one.held)
        _, held = candidates(list(one.answered), [held_by(definition)])
        assert len(held) == len(one.answered)


def test_few_queries_and_few_days_speak_for_nothing() -> None:
    assert candidates([recorded("a", "x", n=19)], [])[0] == []
    assert candidates([recorded("a", "x", days=frozenset({1, 2}))], [])[0] == []
    assert candidates([recorded("a", "x", refused="no cube holds a state of stddev")], [])[0] == []
    assert candidates([recorded("a", "")], [])[0] == [], "a cube has a dimension"
    assert len(candidates([recorded("a", "x")], [])[0]) == 1


def test_an_average_needs_sum_and_count_and_distinct_values_fit_few() -> None:
    (one,), _ = candidates([recorded("a", "x", "avg price")], [])
    assert one.held.states == {("sum", "price"), ("count", "price")}
    assert definition_of(one.held, "d.t", taken=())["measures"] == [
        {"name": "price", "expression": "fact.price", "functions": ["count", "sum"]}
    ]
    both = [recorded("a", "x", "sum p"), recorded("b", "x", "count distinct user")]
    found, _ = candidates(both, [])
    assert [sorted(one.held.states) for one in found] == [
        [("distinct", "user"), ("sum", "p")], [("sum", "p")],
    ]  # fmt: skip


def test_strangers_are_not_merged() -> None:
    found, _ = candidates([recorded("a", "x y"), recorded("b", "p q", n_bytes=GB)], [])
    assert [sorted(one.held.dimensions) for one in found] == [["x", "y"], ["p", "q"]]


def test_beside_what_is_read_most_the_rest_is_tried() -> None:
    """The dearest groupings may make a cube that is as large as the table."""
    groupings = [
        recorded("a", "city brand", n_bytes=9 * GB),
        recorded("b", "year discount", n_bytes=GB),
        recorded("c", "year discount week", n_bytes=GB),
    ]
    found, _ = candidates(groupings, [])
    assert [sorted(one.held.dimensions) for one in found] == [
        ["brand", "city"], ["discount", "week", "year"],
    ]  # fmt: skip


def test_a_paused_cube_s_keys_count_as_its_dimensions() -> None:
    key = "fact.day=d.days.id"
    definition = {
        "joins": [{"alias": "day", "table": "d.days", "on": [["fact.day", "id"]]}],
        "dimensions": [{"name": "day", "expression": "fact.day"}],
        "measures": [{"name": "p", "expression": "fact.a - fact.b", "functions": ["sum", "count"]}],
    }
    asked = held_for(
        [f"d.days.id via {key}"], [Aggregate("avg", "a - b"), Aggregate("max", "day")], [key]
    )
    assert held_by(definition).answers(asked)
    assert not held_by({**definition, "joins": []}).answers(asked)


def option(name: str = "by_x", **values: Any) -> CubeOption:
    fields: dict[str, Any] = {
        **{"n_queries": 30, "n_days": 5, "n_bytes": 300 * GB, "cube_rows": 900.0},
        **{"cube_bytes": 1.0 * GB, "table_bytes": 10 * GB, "build_seconds": 9.0},
    }
    return CubeOption(name, **{**fields, **values})


ALL = Scanned(400 * GB, 10)


def test_the_cube_that_saves_most_is_advised_and_the_next_is_said() -> None:
    narrow, wide = option("narrow", n_bytes=100 * GB), option("wide")
    found = decide_cube([narrow, wide], ALL)
    assert isinstance(found, CubeProposal)
    assert found.place == 1
    assert found.expected == pytest.approx(1 - 0.75 * 0.9)
    assert found.saved_a_day == pytest.approx(0.75 * 0.9 * 40 * GB)
    assert "would answer 30 recorded queries, which read 75 %" in found.reason
    assert found.runner_up == "narrow with 900 rows, would answer 30 queries and save 67 % less"
    large = replace(wide, refused="The cube would hold too many rows.")
    second = decide_cube([large, narrow], ALL)
    assert isinstance(second, CubeProposal)
    assert second.place == 1
    assert second.runner_up == "wide, was not chosen: The cube would hold too many rows"


@pytest.mark.parametrize(
    ("options", "scanned", "reason"),
    [
        ([], ALL, "No 20 queries on 3 days"),
        ([option(refused="It is too large.")], ALL, "not advised: It is too large."),
        ([option(n_bytes=30 * GB)], ALL, "read 7.5 % of what is read"),
        ([option(n_bytes=50 * GB, cube_bytes=4 * GB)], ALL, "would save 7.5 %"),
        ([option()], Scanned(400 * GB, 10, added_a_day=50 * GB), "read as much as it saves"),
        ([option(table_bytes=10**13)], ALL, "more than 30 days"),
    ],
)
def test_why_none_is_advised(options: list[CubeOption], scanned: Scanned, reason: str) -> None:
    found = decide_cube(options, scanned)
    assert isinstance(found, NoProposal)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("answered", "asked", "said"), [(0, 19, None), (1, 20, False), (2, 20, True), (0, 20, False)]
)
def test_a_cube_answers_a_tenth_or_goes(answered: int, asked: int, said: bool | None) -> None:
    assert has_answered(answered, asked) is said


def test_names_are_free_and_fit() -> None:
    held = held_for(
        ["rows", "x", "d.x.x via fact.a=d.x.id", f"{'y' * 60}"],
        [Aggregate("sum", "x"), Aggregate("sum", "unit"), Aggregate("min", "y - x")],
        [],
    )
    definition = definition_of(held, "d.t", taken={"by_fact_rows_x"})
    assert parse_draft(draft_of(definition), "d.t") == definition
    names = [one["name"] for one in definition["dimensions"]]
    assert len(set(names)) == 4
    assert definition["name"] not in ("by_fact_rows_x", "")
