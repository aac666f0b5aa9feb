"""What is counted of a change: nothing where every value stays, a condition where one may not."""

import pytest

from pipelines.cdc.changes.domain.schemas import Column
from pipelines.cdc.schema.domain.classes import SchemaChange
from pipelines.cdc.schema.domain.type_changes import Class
from pipelines.cdc.schema.domain.types import lake_type, parse_type
from pipelines.cdc.tickets.domain.lost_rows import Check, checks_of, lost_sql


def check(old: str, new: str, *, no_nulls: bool = False) -> Check:
    return Check("c", lake_type(parse_type(old)), "c", old, new, no_nulls)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("decimal(10,4)", "decimal(10,2)", "IS NULL"),
        ("varchar(20)", "varchar(5)", "char_length(`c`) > 5"),
        ("mediumtext", "text", "octet_length(`c`) > 65535"),
        ("int", "varchar(3)", "char_length(CAST(`c` AS string)) > 3"),
        ("int", "int unsigned", "NOT BETWEEN 0 AND 4294967295"),
        ("datetime(6)", "datetime", "% 1000000 != 0"),
        ("varbinary(20)", "varbinary(5)", "octet_length(`c`) > 5"),
        ("enum('a','b')", "enum('a')", "NOT IN"),
        ("set('a','b')", "set('a')", "split"),
        ("bigint", "double", "IS NULL"),
    ],
)
def test_what_may_be_lost_is_a_condition(old: str, new: str, part: str) -> None:
    assert part in lost_sql(check(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("int", "text"),
        ("int", "varchar(11)"),
        ("decimal(5,2)", "varchar(8)"),
        ("varchar(5)", "varchar(20)"),
        ("text", "json"),
        ("datetime", "datetime(6)"),
    ],
)
def test_where_every_value_stays_nothing_is_counted(old: str, new: str) -> None:
    assert lost_sql(check(old, new)) == ""


def test_a_null_is_lost_where_none_may_be() -> None:
    assert lost_sql(check("int", "int", no_nulls=True)) == "`c` IS NULL"


def test_a_member_of_any_letters_stays_within_its_quotes() -> None:
    sql = lost_sql(check("enum('a','b')", "enum('it''s')"))
    assert "it's" not in sql
    assert "unhex" in sql


def test_only_columns_that_the_lake_has_are_counted() -> None:
    old, new = Column("Qty", "int"), Column("Qty", "varchar(3)")
    changes = [SchemaChange("type", Class.PERSON, "", "Qty", old, new)]
    found = checks_of(changes, {"Qty": "qty"}, {"qty": "int"})
    assert [(one.column, one.source) for one in found] == [("qty", "Qty")]
    assert checks_of(changes, {}, {}) == ()
    safe = [SchemaChange("type", Class.AUTO, "", "Qty", old, Column("Qty", "bigint"))]
    assert checks_of(safe, {"Qty": "qty"}, {"qty": "int"}) == ()
