"""What a statement will do is predicted; what is no single change of the table is refused."""

import pytest

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.type_changes import Class
from pipelines.cdc.tickets.domain.prediction import Prediction, check_choices, predict
from portal.lake.errors import RuleViolation

SCHEMA = TableSchema(
    "shop",
    "orders",
    3,
    100,
    (
        Column("id", "int(11)", is_nullable=False),
        Column("qty", "int(11)"),
        Column("price", "decimal(10,4)"),
    ),
    ("id",),
)


def predicted(actions: str) -> Prediction:
    return predict(SCHEMA, f"ALTER TABLE orders {actions}")


@pytest.mark.parametrize(
    ("actions", "cls", "needs"),
    [
        ("ADD phone varchar(20)", Class.AUTO, ["add"]),
        ("MODIFY qty bigint", Class.AUTO, ["widen"]),
        ("MODIFY qty varchar(20)", Class.PERSON, ["copy"]),
        ("MODIFY price decimal(10,2)", Class.PERSON, ["copy"]),
        ("DROP qty", Class.PERSON, []),
        ("MODIFY qty smallint", Class.REFUSED, []),
        ("MODIFY id bigint NOT NULL", Class.REFUSED, ["rebuild"]),
    ],
)
def test_the_effect_is_predicted(actions: str, cls: Class, needs: list[str]) -> None:
    found = predicted(actions)
    assert found.cls is cls
    assert found.schema.number == 4
    if needs or cls is not Class.REFUSED:
        assert [one.needs.value for one in found.needs] == needs


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", "ticket.statement", "one statement"),
        ("ALTER TABLE orders FROBNICATE", "ticket.statement", "ALTER TABLE"),
        ("ALTER TABLE orders ADD a int; DROP TABLE orders", "ticket.several", "more than one"),
        ("UPDATE orders SET qty = 1", "ticket.rows", "changes rows"),
        ("ALTER TABLE items ADD a int", "ticket.table", "shop.items"),
        ("ALTER TABLE other.orders ADD a int", "ticket.table", "other.orders"),
        ("DROP DATABASE shop", "ticket.table", "database"),
        ("ALTER TABLE orders ADD INDEX (qty)", "ticket.nothing", "shop.orders"),
        ("CREATE VIEW v AS SELECT 1", "ticket.nothing", "without a ticket"),
        ("ALTER TABLE orders DROP nothing", "cdc.ddl", "nothing"),
    ],
)
def test_what_is_no_change_of_the_table_is_refused_by_name(
    text: str, code: str, words: str
) -> None:
    with pytest.raises(RuleViolation) as refused:
        predict(SCHEMA, text)
    assert refused.value.code == code
    assert words in refused.value.message


def test_one_statement_may_end_with_a_semicolon() -> None:
    assert predicted("ADD phone varchar(20);").added == ("phone",)


def test_each_new_column_needs_a_choice_and_no_other_has_one() -> None:
    found = predicted("ADD phone varchar(20), ADD mail text")
    both = {"phone": "encrypted:PII", "mail": "plain"}
    assert check_choices(found, both) == both
    for bad, code in (
        ({"phone": "redact"}, "ticket.choice"),
        ({**both, "mail": "hidden"}, "cdc.protection"),
        ({**both, "mail": "year"}, "cdc.protection"),
        ({**both, "qty": "plain"}, "ticket.choice"),
    ):
        with pytest.raises(RuleViolation) as refused:
            check_choices(found, bad)
        assert refused.value.code == code
