"""Which changes of a schema leave rows behind that the log says nothing about."""

import pytest

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.schema.domain.classes import classify
from pipelines.cdc.schema.domain.ddl import read_statement
from pipelines.cdc.schema.domain.unlogged import has_values_before, leaves_rows_behind

ID, QTY = Column("id", "int(11)", is_nullable=False), Column("qty", "int(11)")
NOTE = Column("note", "varchar(20)", charset="utf8mb4")
OLD = TableSchema("shop", "orders", 1, 1, (ID, QTY, NOTE), ("id",))


@pytest.mark.parametrize(
    ("columns", "ddl", "wanted"),
    [
        ((ID, Column("qty", "varchar(20)"), NOTE), "MODIFY qty varchar(20)", True),
        ((ID, Column("qty", "bigint(20)"), NOTE), "MODIFY qty bigint", False),
        ((ID, QTY, Column("note", "varchar(20)", charset="latin1")), "CONVERT TO latin1", True),
        ((ID, Column("qty", "int(11)", is_nullable=False), NOTE), "MODIFY qty int NOT NULL", True),
        ((ID, NOTE), "DROP qty", False),
        ((ID, Column("n", "int(11)"), NOTE), "RENAME COLUMN qty TO n", False),
        ((ID, QTY, NOTE), "DROP PARTITION p1", True),
        ((ID, QTY, NOTE), "FROBNICATE", True),
        ((ID, QTY, NOTE, Column("new", "int(11)", is_nullable=False)), "ADD new int", False),
    ],
)
def test_rows_left_behind(columns: tuple[Column, ...], ddl: str, wanted: bool) -> None:
    statement = read_statement(f"ALTER TABLE orders {ddl}", "shop")
    new = TableSchema("shop", "orders", 2, 2, columns, ("id",), f"ALTER TABLE orders {ddl}")
    assert leaves_rows_behind(classify(OLD, new, statement)) is wanted


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (Column("new", "int(11)"), False),
        (Column("new", "int(11)", default="NULL"), False),
        (Column("new", "int(11)", default="0"), True),
        (Column("new", "int(11)", is_nullable=False), True),
        (Column("new", "int(11)", is_generated=True), True),
    ],
)
def test_values_before(column: Column, wanted: bool) -> None:
    assert has_values_before(column) is wanted
