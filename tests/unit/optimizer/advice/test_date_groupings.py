"""Tests groups by years, months and days of a column: read, advised as cubes, and matched again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.asked import asked_in
from optimizer.advice.domain.stars.cube_advice import RecordedGrouping, candidates
from optimizer.advice.domain.stars.drafts import definition_of, held_by, held_for
from optimizer.advice.domain.stars.groupings import ALL_ROWS, StarGrouping, star_groupings
from optimizer.advice.domain.stars.names import Step, column_text, read_column, whole_of
from optimizer.advice.domain.stars.terms import WRITTEN, read_term, term_text
from optimizer.cubes.domain.drafts import draft_of, parse_draft
from optimizer.cubes.domain.expressions import columns_of
from optimizer.matching.domain.blocks import candidates_of, read_block
from optimizer.matching.domain.matches import match
from optimizer.matching.domain.reading import read_query
from optimizer.matching.domain.rules import Unfit
from optimizer.matching.domain.views import Schema, View, ViewDimension, ViewMeasure
from optimizer.pruning.domain.uses import Names

NAMES = Names("lake", None, "d")
TYPES = {
    "d.sales": {
        **{"at": "timestamptz", "local": "timestamp", "day": "date", "shop": "long"},
        **{"price": "double", "word": "string", "qty": "int"},
    },
    "d.shops": {"shop": "long", "opened": "date", "region": "string"},
}
SPARK = {"timestamptz": "timestamp", "timestamp": "timestamp_ntz", "long": "bigint"}
SIZES = {"d.sales": 900, "d.shops": 9}
SHOPS = "via fact.shop=d.shops.shop"


def grouped(sql: str, dialect: str = "trino") -> StarGrouping:
    (found,) = star_groupings(asked_in(sql, dialect, NAMES, TYPES), SIZES)
    assert found.refused == ""
    return found


def by(expression: str, dialect: str) -> set[str]:
    sql = f"SELECT {expression}, sum(qty) FROM sales GROUP BY {expression}"
    return set(grouped(sql, dialect).dimensions)


UNDERSTOOD = [
    ("trino", "date_trunc('month', at)", "date_trunc('month', at)"),
    ("trino", "date_trunc('hour', sales.at)", "date_trunc('hour', at)"),
    ("trino", "date_trunc('MONTH', day)", "trunc(day, 'month')"),
    ("trino", "CAST(at AS date)", "cast(at as date)"),
    ("trino", "date(local)", "cast(local as date)"),
    ("trino", "year(day)", "year(day)"),
    ("trino", "extract(quarter FROM at)", "quarter(at)"),
    ("trino", "day_of_month(at)", "day(at)"),
    ("spark", "date_trunc('MM', at)", "date_trunc('month', at)"),
    ("spark", "date_trunc('day', day)", "date_trunc('day', day)"),
    ("spark", "trunc(day, 'YEAR')", "trunc(day, 'year')"),
    ("spark", "CAST(at AS DATE)", "cast(at as date)"),
    ("spark", "YEAR(at)", "year(at)"),
    ("spark", "dayofmonth(day)", "day(day)"),
]


@pytest.mark.parametrize(("dialect", "expression", "term"), UNDERSTOOD)
def test_a_group_by_a_form_of_a_date_is_told_as_it(
    dialect: str, expression: str, term: str
) -> None:
    assert by(expression, dialect) == {term}


@pytest.mark.parametrize(
    ("dialect", "expression", "column"),
    [
        # Spark's time of a time without zone is another one.
        ("trino", "date_trunc('month', local)", "local"),
        # The same day, of which Spark's `trunc` gives null.
        ("trino", "date_trunc('day', day)", "day"),
        ("spark", "trunc(day, 'DAY')", "day"),
        ("spark", "trunc(at, 'MM')", "at"),
        ("spark", "date_trunc('millisecond', at)", "at"),
        ("trino", "week(day)", "day"),
        ("trino", "date_trunc('month', CAST(at AS date))", "at"),
        ("trino", "date_trunc('month', at + INTERVAL '1' DAY)", "at"),
        ("trino", "upper(word)", "word"),
        ("trino", "CAST(qty AS varchar)", "qty"),
        ("trino", "CAST(word AS date)", "word"),
        ("trino", "year(CAST(word AS date))", "word"),
    ],
)
def test_what_is_no_such_form_counts_as_its_column(
    dialect: str, expression: str, column: str
) -> None:
    assert by(expression, dialect) == {column}


def test_a_place_and_a_name_of_the_list_mean_what_stands_there() -> None:
    for group in ("1", "m"):
        found = grouped(
            f"SELECT date_trunc('month', at) AS m, count(*) FROM sales GROUP BY {group}"
        )
        assert found.dimensions == {"date_trunc('month', at)"}
    filtered = grouped(
        "SELECT year(at), count(*) FROM sales WHERE at > TIMESTAMP '2026-01-01' GROUP BY 1"
    )
    assert filtered.dimensions == {"year(at)", "at"}


def test_without_types_a_form_is_its_column() -> None:
    columns = {name: frozenset(types) for name, types in TYPES.items()}
    sql = "SELECT year(day), count(*) FROM sales GROUP BY 1"
    (found,) = star_groupings(asked_in(sql, "trino", NAMES, columns), SIZES)
    assert found.dimensions == {"day"}


def test_a_form_of_a_joined_column_is_told_with_its_keys() -> None:
    found = grouped(
        "SELECT year(o.opened), sum(s.qty) FROM sales s JOIN shops o ON s.shop = o.shop GROUP BY 1"
    )
    assert found.dimensions == {f"year(d.shops.opened) {SHOPS}"}
    definition = definition_of(
        held_for(found.dimensions, found.measures, found.joins), "d.sales", taken=()
    )
    assert definition["dimensions"] == [{"name": "opened_year", "expression": "year(shops.opened)"}]


STEPS = (Step("fact", "d.shops", (("shop", "shop"),)),)
FORMS = st.sampled_from(sorted(WRITTEN))


@given(FORMS, st.from_regex(r"[a-z_][a-z0-9_]{0,20}", fullmatch=True), st.booleans())
def test_forms_are_read_back_as_they_were_written(form: str, column: str, is_joined: bool) -> None:
    path = STEPS if is_joined else ()
    text = column_text(path, column, form)
    assert text == text.lower()
    assert read_column(text) == (path, column, form)
    assert whole_of(text) == column_text(path, column)
    assert read_term(term_text(form, column)) == (form, column)
    # A cube may have it.
    assert columns_of(term_text(form, "fact.c")) == (("fact", "c"),)


def recorded(*dimensions: str, digest: str = "a") -> RecordedGrouping:
    return RecordedGrouping(
        digest, frozenset(dimensions), frozenset({ALL_ROWS}), frozenset(), 30, 10**9,
        days=frozenset(range(5)),
    )  # fmt: skip


def test_a_column_answers_its_forms_and_no_form_another() -> None:
    def held(*dimensions: str) -> object:
        return held_for(dimensions, [ALL_ROWS], [])

    month, year, plain = "date_trunc('month', at)", "year(at)", "at"
    for one, asked, answers in (
        (plain, month, True),
        (month, month, True),
        (month, plain, False),
        (month, year, False),
        (f"year(d.shops.opened) {SHOPS}", "year(opened)", False),
    ):
        assert held_for([one], [], []).answers(held_for([asked], [], [])) is answers, (one, asked)
    both = held_for([month], [], []).with_(held_for([plain, "shop"], [], []))
    assert both == held_for([plain, "shop"], [], [])
    assert held(month, plain) == held(plain)


def test_candidates_keep_forms_where_no_query_needs_the_column() -> None:
    month, shop = "date_trunc('month', at)", "shop"
    found, _ = candidates([recorded(month, shop), recorded(shop, digest="b")], [])
    assert found[0].held.dimensions == {month, shop}
    _, held = candidates([recorded(month)], [held_for(["at"], [ALL_ROWS], [])])
    assert [one.digest for one in held] == ["a"]


@pytest.mark.parametrize(("dialect", "expression", "term"), UNDERSTOOD)
def test_the_cube_is_matched_with_the_query_that_asked_for_it(
    dialect: str, expression: str, term: str
) -> None:
    sql = f"SELECT {expression} AS x, sum(qty), count(*) FROM sales GROUP BY {expression}"
    asked = grouped(sql, dialect)
    held = held_for(asked.dimensions, asked.measures, asked.joins)
    definition = definition_of(held, "d.sales", taken=())
    assert parse_draft(draft_of(definition), "d.sales") == definition
    assert held_by(definition) == held
    (dimension,) = definition["dimensions"]
    assert dimension["expression"].replace("fact.", "") == term
    kinds = {
        table: {column: SPARK.get(kind, kind) for column, kind in types.items()}
        for table, types in TYPES.items()
    }
    (measure,) = definition["measures"]
    view = View(
        definition["name"],
        "d.sales",
        (),
        (ViewDimension(dimension["name"], dimension["expression"], _type_of(term)),),
        (
            ViewMeasure(
                measure["name"], measure["expression"], "int", frozenset(measure["functions"])
            ),
        ),
        definition["time_zone"],
    )
    (select,) = candidates_of(read_query(sql, dialect), lambda table: f"d.{table.name}")
    schema = Schema(kinds)
    zone = "UTC" if dialect == "spark" else ""
    found = match(read_block(select, schema, dialect), view, schema, dialect, zone)
    assert found.used == {dimension["name"]}


def test_spark_s_days_of_a_date_are_never_taken_for_those_of_trino() -> None:
    """`trunc(day, 'DAY')` is null in Spark; `date_trunc('day', day)` is the day in Trino."""
    dimension = ViewDimension("x", "trunc(fact.day, 'DAY')", "date")
    view = View("c", "d.sales", (), (dimension,), (), "UTC")
    sql = "SELECT date_trunc('day', day), count(*) FROM sales GROUP BY 1"
    (select,) = candidates_of(read_query(sql, "trino"), lambda table: f"d.{table.name}")
    schema = Schema({"d.sales": {"day": "date"}})
    with pytest.raises(Unfit):
        match(read_block(select, schema, "trino"), view, schema, "trino")


def _type_of(term: str) -> str:
    if term.startswith("date_trunc"):
        return "timestamp"
    return "date" if term.startswith(("cast", "trunc")) else "int"


def test_a_cube_of_another_time_zone_holds_its_columns_alone() -> None:
    held = held_for(["cast(at as date)", "shop"], [ALL_ROWS], [])
    definition = definition_of(held, "d.sales", taken=())
    assert held_by(definition).dimensions == {"cast(at as date)", "shop"}
    assert held_by({**definition, "time_zone": "Europe/Berlin"}).dimensions == {"shop"}


def test_dimensions_of_other_expressions_hold_nothing() -> None:
    definition = definition_of(held_for(["shop"], [ALL_ROWS], []), "d.sales", taken=())
    for odd in ("trunc(fact.day, 'DAY')", "year(fact.day) + 1", "upper(fact.word)", "year(x.day)"):
        changed = {**definition, "dimensions": [{"name": "x", "expression": odd}]}
        assert held_by(changed).dimensions == frozenset(), odd
