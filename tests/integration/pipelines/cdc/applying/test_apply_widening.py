"""Columns become wider in place, and rows of older files read as they were written."""

from decimal import Decimal
from typing import Any

import pytest

from pipelines.cdc.applying.domain.messages import Column, SchemaPlan
from tests.support.changelogs import Pipeline, change

pytestmark = pytest.mark.spark
NARROW = {"id": "bigint", "a": "int", "b": "int", "c": "float", "d": "decimal(10,2)", "e": "bigint"}
WIDE = NARROW | {
    "a": "bigint",
    "b": "decimal(10,0)",
    "c": "double",
    "d": "decimal(12,2)",
    "e": "decimal(20,0)",
}
OLD = {"a": "-7", "b": "2147483647", "c": "0.1", "d": "12345678.90", "e": "9223372036854775807"}
NEW = {
    "a": "3000000000",
    "b": "-9999999999",
    "c": "1e+300",
    "d": "-1234567890.12",
    "e": "18446744073709551615",
}
TENTH = 0.10000000149011612


@pytest.mark.parametrize("kind", ["MOR", pytest.param("COW", marks=pytest.mark.long)])
def test_old_and_new_rows_read_right_after_columns_were_widened(
    pipeline: Pipeline, kind: Any
) -> None:
    plan = SchemaPlan(1, live={name: name for name in NARROW})
    columns = tuple(Column(*one) for one in NARROW.items())
    pipeline.table(kind=kind, columns=columns, schemas=(plan,))
    pipeline.log.write([change("c", key, key, values=OLD) for key in (1, 2)])
    pipeline.run()
    columns = tuple(Column(*one) for one in WIDE.items())
    pipeline.table(columns=columns, schemas=(plan, SchemaPlan(2, live=plan.live)))
    pipeline.log.write([change("u", 1, 3, schema=2, values=NEW)])
    pipeline.log.write([change("d", 3, 4), change("c", 4, 5, values=OLD)])
    pipeline.run(at_once=1)
    report = pipeline.report()
    assert (report.failure, report.columns, report.n_quarantined) == (None, columns, 0), report

    frame = pipeline.spark.read.format("hudi").load(pipeline.tables["carts"].location)
    found = {row["id"]: [row[name] for name in "abcde"] for row in frame.collect()}
    old = [-7, Decimal(2**31 - 1), found[2][2], Decimal("12345678.90"), Decimal(2**63 - 1)]
    new = [3 * 10**9, Decimal(-9_999_999_999), 1e300, Decimal("-1234567890.12"), Decimal(2**64 - 1)]
    assert found[2] == old
    assert found[2][2] in {0.1, TENTH}
    assert found[1] == new
    assert found[4][:2] == old[:2]
    assert sorted(found) == [1, 2, 4]
