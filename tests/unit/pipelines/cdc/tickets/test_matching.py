"""A change that came is the announced one where rows and the lake see the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.classes import classify
from pipelines.cdc.schema.domain.ddl import read_statement
from pipelines.cdc.schema.domain.evolution import evolved
from pipelines.cdc.tickets.domain.matching import difference
from pipelines.cdc.tickets.domain.prediction import predict

SCHEMA = TableSchema(
    "shop",
    "orders",
    1,
    100,
    (
        Column("id", "int(11)", is_nullable=False),
        Column("qty", "int(11)"),
        Column("note", "varchar(20)", charset="utf8mb4"),
    ),
    ("id",),
)
STATEMENTS = (
    *("ADD phone varchar(20)", "ADD phone varchar(30)", "ADD phone varchar(20) NOT NULL"),
    *("MODIFY qty bigint", "MODIFY qty varchar(20)", "MODIFY qty decimal(12,2)", "DROP qty"),
    *("CHANGE qty n int", "MODIFY note varchar(5)", "MODIFY note text CHARACTER SET latin1"),
    *("DROP PRIMARY KEY, ADD PRIMARY KEY (id, qty)", "ADD a int, DROP qty", "ADD b int AS (qty)"),
    *("DROP PARTITION p0", "DROP note, ADD note varchar(20) CHARACTER SET utf8mb4"),
)


def differs(announced: str, came: str) -> str:
    predicted = predict(SCHEMA, f"ALTER TABLE orders {announced}")
    statement = read_statement(f"ALTER TABLE orders {came}", "shop")
    seen = evolved(SCHEMA, statement, version=200)
    changes = classify(SCHEMA, seen, statement)
    return difference(predicted.schema, predicted.changes, seen, changes)


@given(st.sampled_from(STATEMENTS), st.sampled_from(STATEMENTS))
def test_a_change_is_the_announced_one_or_is_not(announced: str, came: str) -> None:
    assert bool(differs(announced, came)) == (announced != came)


@pytest.mark.parametrize(
    ("announced", "came"),
    [
        ("MODIFY qty bigint", "MODIFY COLUMN qty BIGINT(20) COMMENT 'wider'"),
        ("ADD phone varchar(20)", "ADD phone varchar(20) DEFAULT '' AFTER id"),
        ("ADD data json", "ADD data longtext"),
    ],
)
def test_other_words_and_places_are_the_same_change(announced: str, came: str) -> None:
    assert differs(announced, came) == ""


def test_the_difference_is_named() -> None:
    assert "mail" in differs("ADD phone varchar(20)", "ADD mail text")
    assert "varchar(9)" in differs("MODIFY qty bigint", "MODIFY qty varchar(9)")


def test_a_server_tells_a_charset_that_the_statement_left_out() -> None:
    predicted = predict(SCHEMA, "ALTER TABLE orders ADD phone varchar(20)")
    phone = replace(predicted.schema.columns[-1], charset="utf8mb4")
    seen = replace(predicted.schema, columns=(*SCHEMA.columns, phone))
    changes = classify(SCHEMA, seen)
    assert difference(predicted.schema, predicted.changes, seen, changes) == ""
