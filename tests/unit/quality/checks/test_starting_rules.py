"""Rules are proposed of columns that a rule can be named after, and of no others."""

from quality.checks.domain.documents import read_document, write_document
from quality.checks.domain.rules import CheckSet
from quality.checks.domain.starting_rules import MOST_COLUMNS, starting_rules

COLUMNS = {
    "_hoodie_commit_time": "string",
    "dt": "string",
    "order_id": "bigint",
    "amount": "decimal(10,2)",
    "表": "string",
    "two words": "int",
}


def test_rules_are_proposed_of_columns_that_can_name_a_rule() -> None:
    rules = starting_rules(COLUMNS, partition_key="dt")
    assert [one.name for one in rules] == [
        "row_count",
        "null_rate_order_id",
        "null_rate_amount",
        "mean_amount",
        "null_rate_two words",
        "mean_two words",
    ]
    checks = CheckSet(table="sales.orders", rules=rules, partition_key="dt")
    assert read_document(write_document(checks)) == checks


def test_of_a_wide_table_some_columns_are_taken() -> None:
    wide = {f"c{n}": "string" for n in range(100)}
    assert len(starting_rules(wide)) == MOST_COLUMNS + 1
