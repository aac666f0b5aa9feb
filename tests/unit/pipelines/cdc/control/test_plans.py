"""What happens to the records of each schema, as people decide on changes."""

from dataclasses import replace

import msgspec
import pytest

from pipelines.cdc.applying.domain.messages import (
    Column as LakeColumn,
)
from pipelines.cdc.applying.domain.messages import (
    Orders,
    PipelineOrder,
    TableOrder,
    read_orders,
)
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.domain.plans import (
    Choice,
    DecidedSchema,
    Decision,
    Prepared,
    TablePlan,
    choice_of,
    table_plan,
)
from pipelines.cdc.protecting.domain.protections import PLAIN, Protection
from pipelines.cdc.schema.domain.classes import classify
from pipelines.cdc.schema.domain.ddl import read_statement
from portal.lake.errors import RuleViolation

Columns = dict[str, str]
FIRST: Columns = {"id": "int(11)", "Qty": "int(11)", "note": "varchar(20)"}


def schema(number: int, columns: Columns) -> TableSchema:
    made = tuple(Column(name, kind) for name, kind in columns.items())
    return TableSchema("shop", "orders", number, number * 100, made, ("id",))


def after(
    before: DecidedSchema,
    columns: Columns,
    ddl: str,
    decision: Decision = Decision.APPROVED,
    **choices: Choice,
) -> DecidedSchema:
    new = schema(before.schema.number + 1, columns)
    changes = classify(before.schema, new, read_statement(ddl, "shop"))
    return DecidedSchema(new, decision, changes, choices)


def lake(plan: TablePlan) -> dict[str, str]:
    return {column.name: column.type for column in plan.columns}


def can_be_ordered(plan: TablePlan) -> bool:
    table = TableOrder(
        *(1, "shop", "orders", "ods", "orders", "file:/ods/orders"),
        columns=plan.columns,
        key=("id",),
        schemas=plan.schemas,
        replays=plan.replays,
        refused=plan.refused,
        protections={name: str(one) for name, one in plan.protections.items()},
    )
    orders = Orders((PipelineOrder(1, "file:/log", "file:/apply", (table,)),))
    return read_orders(msgspec.to_builtins(orders)) == orders


@pytest.fixture
def first() -> DecidedSchema:
    return DecidedSchema(schema(1, FIRST), Decision.NONE)


def test_a_first_schema_is_live_in_names_and_types_of_the_lake(first: DecidedSchema) -> None:
    plan = table_plan([first])
    assert plan.columns == (
        LakeColumn("id", "int"), LakeColumn("qty", "int"), LakeColumn("note", "string"),
    )  # fmt: skip
    assert plan.schemas[0].live == {"id": "id", "Qty": "qty", "note": "note"}
    assert can_be_ordered(plan)


def test_a_new_column_is_aside_until_somebody_says_how_the_lake_may_have_it(
    first: DecidedSchema,
) -> None:
    columns = {**FIRST, "phone": "varchar(20)"}
    ddl = "ALTER TABLE orders ADD phone varchar(20)"
    pending = table_plan([first, after(first, columns, ddl)])
    assert "phone" not in lake(pending)
    assert (pending.schemas[1].aside, pending.pending) == (("phone",), ("phone",))
    plain = table_plan([first, after(first, columns, ddl, phone=Choice.LIVE)])
    assert lake(plain)["phone"] == "string"
    assert plain.schemas[1].live["phone"] == "phone"
    assert plain.schemas[0].live == {"id": "id", "Qty": "qty", "note": "note"}
    assert [one.columns for one in plain.replays] == [("phone",)]
    refused = table_plan([first, after(first, columns, ddl, phone=Choice.REFUSED)])
    assert (refused.refused, refused.schemas[1].aside) == (("phone",), ())
    assert "phone" not in lake(refused)
    assert all(map(can_be_ordered, (pending, plain, refused)))


def test_a_column_stays_pending_through_later_schemas(first: DecidedSchema) -> None:
    columns = {**FIRST, "phone": "varchar(20)"}
    second = after(first, columns, "ALTER TABLE orders ADD phone varchar(20)")
    third = after(second, {**columns, "Qty": "bigint(20)"}, "ALTER TABLE orders MODIFY Qty bigint")
    plan = table_plan([first, second, third])
    assert plan.pending == ("phone",)
    assert lake(plan)["qty"] == "bigint"
    assert can_be_ordered(plan)


def test_behind_a_schema_that_waits_all_later_ones_are_held(first: DecidedSchema) -> None:
    waiting = after(
        first,
        {**FIRST, "Qty": "varchar(20)"},
        "ALTER TABLE orders MODIFY Qty varchar(20)",
        Decision.WAITING,
    )
    later = after(
        waiting, {**FIRST, "Qty": "varchar(20)", "x": "int"}, "ALTER TABLE orders ADD x int"
    )
    plan = table_plan([first, waiting, later])
    assert [one.is_held for one in plan.schemas] == [False, True, True]
    assert lake(plan)["qty"] == "int"
    assert can_be_ordered(plan)


def test_a_type_that_hudi_cannot_read_as_another_gets_a_column_of_its_own(
    first: DecidedSchema,
) -> None:
    ddl = "ALTER TABLE orders MODIFY Qty varchar(20)"
    plan = table_plan([first, after(first, {**FIRST, "Qty": "varchar(20)"}, ddl)])
    assert lake(plan) == {"id": "int", "qty": "int", "note": "string", "qty_2": "string"}
    assert plan.schemas[0].live["Qty"] == "qty"
    assert plan.schemas[1].live["Qty"] == "qty_2"
    assert can_be_ordered(plan)


def test_a_renamed_column_keeps_its_name_in_the_lake(first: DecidedSchema) -> None:
    columns = {"id": "int(11)", "amount": "int(11)", "note": "varchar(20)"}
    ddl = "ALTER TABLE orders CHANGE Qty amount int"
    plan = table_plan([first, after(first, columns, ddl)])
    assert lake(plan) == {"id": "int", "qty": "int", "note": "string"}
    assert plan.schemas[1].live == {"id": "id", "amount": "qty", "note": "note"}
    assert can_be_ordered(plan)


def test_a_dropped_column_stays_in_the_lake_and_a_new_one_of_its_name_is_another(
    first: DecidedSchema,
) -> None:
    left = {"id": "int(11)", "Qty": "int(11)"}
    second = after(first, left, "ALTER TABLE orders DROP note")
    back = {**left, "note": "int(11)"}
    third = after(second, back, "ALTER TABLE orders ADD note int", note=Choice.LIVE)
    plan = table_plan([first, second, third])
    assert lake(plan) == {"id": "int", "qty": "int", "note": "string", "note_2": "int"}
    assert plan.schemas[1].live == {"id": "id", "Qty": "qty"}
    assert plan.schemas[2].live["note"] == "note_2"
    assert can_be_ordered(plan)


def test_what_needs_another_table_stays_held_even_if_somebody_approved_it(
    first: DecidedSchema,
) -> None:
    new = TableSchema("shop", "orders", 2, 200, first.schema.columns, ("Qty",))
    changed = DecidedSchema(new, Decision.APPROVED, classify(first.schema, new))
    plan = table_plan([first, changed])
    assert [one.is_held for one in plan.schemas] == [False, True]
    assert can_be_ordered(plan)


def test_columns_whose_names_the_lake_cannot_tell_apart_get_two(first: DecidedSchema) -> None:
    plan = table_plan(
        [DecidedSchema(schema(1, {"id": "int", "naïve": "int", "na-ve": "int"}), Decision.NONE)]
    )
    assert list(lake(plan)) == ["id", "na_ve", "na_ve_2"]


class TestPrepared:
    """The lake's table may have got columns before their change came."""

    @staticmethod
    def ahead(ddl: str, columns: Columns, **choices: Choice) -> tuple[DecidedSchema, Prepared]:
        first = DecidedSchema(schema(1, FIRST), Decision.NONE)
        change = after(first, columns, ddl, Decision.APPROVED, **choices)
        now = set(table_plan([first]).columns)
        more = tuple(one for one in table_plan([first, change]).columns if one not in now)
        return change, Prepared(1, more)

    @pytest.mark.parametrize(
        ("ddl", "columns", "choices"),
        [
            ("ALTER TABLE orders MODIFY Qty varchar(20)", {**FIRST, "Qty": "varchar(20)"}, {}),
            ("ALTER TABLE orders MODIFY Qty bigint", {**FIRST, "Qty": "bigint"}, {}),
            ("ALTER TABLE orders ADD a int", {**FIRST, "a": "int"}, {"a": Choice.LIVE}),
        ],
    )
    def test_the_change_takes_what_was_prepared_for_it(
        self, ddl: str, columns: Columns, choices: dict[str, Choice]
    ) -> None:
        change, prepared = self.ahead(ddl, columns, **choices)
        first = DecidedSchema(schema(1, FIRST), Decision.NONE)
        waiting = table_plan([first], [prepared])
        assert set(waiting.columns) > set(table_plan([first]).columns) or "bigint" in ddl
        assert [one.number for one in waiting.schemas] == [1]
        came = table_plan([first, change], [prepared])
        assert came.columns == waiting.columns
        assert came.schemas == table_plan([first, change]).schemas
        can_be_ordered(came)

    def test_what_was_prepared_for_another_change_stays(self) -> None:
        _, prepared = self.ahead("ALTER TABLE orders MODIFY Qty bigint", {**FIRST, "Qty": "bigint"})
        first = DecidedSchema(schema(1, FIRST), Decision.NONE)
        text = after(first, {**FIRST, "Qty": "text"}, "ALTER TABLE orders MODIFY Qty text")
        other = table_plan([first, text], [prepared])
        assert lake(other) == {
            **{"id": "int", "qty": "bigint", "note": "string"},
            "qty_2": "string",
        }
        narrow = after(first, {**FIRST, "Qty": "mediumint"}, "ALTER TABLE orders COMMENT='x'")
        assert lake(table_plan([first, narrow], [prepared]))["qty"] == "bigint"


HIDDEN = Protection.parse("encrypted:PII")


def test_a_protected_column_is_text_and_stays_protected_under_another_name_or_type() -> None:
    first = DecidedSchema(schema(1, FIRST), Decision.NONE, protections={"Qty": HIDDEN})
    assert table_plan([first]).protections == {"qty": HIDDEN}
    wide = after(first, {**FIRST, "Qty": "bigint(20)"}, "ALTER TABLE orders MODIFY Qty bigint")
    renamed = after(
        wide,
        {"id": "int(11)", "amount": "bigint(20)", "note": "varchar(20)"},
        "ALTER TABLE orders CHANGE Qty amount bigint",
    )
    text = after(
        renamed,
        {"id": "int(11)", "amount": "varchar(9)", "note": "varchar(20)"},
        "ALTER TABLE orders MODIFY amount varchar(9)",
    )
    plan = table_plan([first, wide, renamed, text])
    assert lake(plan) == {"id": "int", "qty": "string", "note": "string"}
    assert plan.schemas[3].live["amount"] == "qty"
    assert plan.protection_of("amount") == HIDDEN
    assert plan.origins["amount"] == (1, "Qty")
    assert can_be_ordered(plan)


def test_a_mask_that_keeps_the_type_goes_to_the_new_column_too() -> None:
    year = Protection.parse("year")
    columns = {"id": "int(11)", "born": "date"}
    first = DecidedSchema(schema(1, columns), Decision.NONE, protections={"born": year})
    moved = after(first, {**columns, "born": "datetime"}, "ALTER TABLE orders MODIFY born datetime")
    plan = table_plan([first, moved])
    assert lake(plan) == {"id": "int", "born": "date", "born_2": "timestamp"}
    assert plan.protections == {"born": year, "born_2": year}
    assert can_be_ordered(plan)


def test_a_new_column_is_released_encrypted(first: DecidedSchema) -> None:
    columns = {**FIRST, "pin": "int(11)"}
    ddl = "ALTER TABLE orders ADD pin int"
    added = replace(after(first, columns, ddl, pin=Choice.LIVE), protections={"pin": HIDDEN})
    plan = table_plan([first, added])
    assert (lake(plan)["pin"], plan.protections) == ("string", {"pin": HIDDEN})
    assert can_be_ordered(plan)


@pytest.mark.parametrize(
    ("columns", "ddl", "name"),
    [
        ({"pin": "bigint(20)"}, "ALTER TABLE orders MODIFY pin bigint", "pin"),
        ({"pin": "varchar(9)"}, "ALTER TABLE orders MODIFY pin varchar(9)", "pin"),
        ({"code": "int(11)"}, "ALTER TABLE orders CHANGE pin code int", "code"),
    ],
)
def test_a_column_that_waits_goes_on_waiting_however_it_changes(
    first: DecidedSchema, columns: Columns, ddl: str, name: str
) -> None:
    added = after(first, {**FIRST, "pin": "int(11)"}, "ALTER TABLE orders ADD pin int")
    changed = after(added, {**FIRST, **columns}, ddl)
    plan = table_plan([first, added, changed])
    assert plan.pending == (name,)
    assert list(lake(plan)) == ["id", "qty", "note"]
    assert plan.origins[name] == (2, "pin")
    released = replace(added, choices={"pin": Choice.LIVE}, protections={"pin": HIDDEN})
    plan = table_plan([first, released, changed])
    assert lake(plan)["pin"] == "string"
    assert plan.protection_of(name) == HIDDEN
    wanted = {one.columns[0] for one in plan.replays}
    assert wanted == {"pin", name}
    assert can_be_ordered(plan)


def test_what_was_said_of_a_column_is_read_as_it_is_stored() -> None:
    assert choice_of("refused") == (Choice.REFUSED, PLAIN)
    assert choice_of("plain") == (Choice.LIVE, PLAIN)
    assert choice_of("encrypted:PII") == (Choice.LIVE, HIDDEN)
    with pytest.raises(RuleViolation, match="none of"):
        choice_of("live")
