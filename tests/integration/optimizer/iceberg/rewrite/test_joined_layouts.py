"""Tables that are put in order by a column of a joined table: the same rows, whatever it holds."""

from typing import Any

import pytest

from tests.support.iceberg_lake import IcebergLake, WrittenTable

PART = {"alias": "part", "table": "", "on": [["fact.id", "key"]]}
SMALL_TARGET = 1 << 10


def facts(lake: IcebergLake) -> WrittenTable:
    """Files with ids of every brand; ids 0 and 39 and a null have no partner."""
    table = lake.table(by="")
    for n in range(4):
        table.append([(i * 4 + n, "2026-05-01", "w") for i in range(10)])
    table.say("INSERT INTO {t} VALUES (NULL, '2026-05-01', 'w')")
    return table


def joined(lake: IcebergLake, name: str, rows: str, *, key: str = "BIGINT") -> str:
    """A table of keys and brands, with the rows of a query."""
    lake.spark.sql(
        f"CREATE TABLE lake.{lake.db}.{name} (key {key}, brand STRING, tags MAP<STRING, INT>) "
        "USING iceberg"
    )
    lake.spark.sql(f"INSERT INTO lake.{lake.db}.{name} SELECT *, NULL FROM ({rows})")
    return f"{lake.db}.{name}"


def part(lake: IcebergLake, name: str) -> str:
    """Ids 1 to 38: brand by the remainder of 4, so that plain order spreads each brand."""
    return joined(lake, name, "SELECT id, 'b' || (id * 7 % 4) FROM range(1, 39)")


def brands(lake: IcebergLake, table: WrittenTable, other: str) -> list[set[str | None]]:
    """The brands of each file's rows."""
    spread = lake.spark.sql(
        f"SELECT f._file AS file, collect_set(coalesce(p.brand, '')) AS brands "
        f"FROM {table.sql} f LEFT JOIN lake.{other} p ON f.id = p.key GROUP BY f._file"
    )
    return [set(row["brands"]) for row in spread.collect()]


@pytest.mark.parametrize(
    "layout", ["sort(part.brand)", pytest.param("hilbert(part.brand,id)", marks=pytest.mark.long)]
)
def test_a_table_is_put_in_order_by_a_column_of_a_joined_table(
    iceberg_lake: IcebergLake, layout: str
) -> None:
    lake = iceberg_lake
    table, other = facts(lake), part(lake, f"part_{layout[:4]}")
    rows, columns = table.rows(), lake.spark.table(table.sql).columns
    task: dict[str, Any] = {"kind": "CLUSTER", "layout": layout, "target_bytes": SMALL_TARGET}

    (result,) = lake.optimize(lake.task(table, **task, joins=[{**PART, "table": other}]))

    assert result["outcome"] == "DONE", result
    assert table.rows() == rows
    assert lake.spark.table(table.sql).columns == columns
    assert table.summary()["lakewarden.layout"] == layout
    if layout.startswith("sort"):
        found = brands(lake, table, other)
        assert len(found) > 1
        assert sum(len(one) for one in found) < 5 + len(found)
    else:
        assert [one["column"] for one in result["boundaries"]["columns"]] == ["part.brand", "id"]
        (nothing,) = lake.optimize(
            lake.task(
                table,
                **task,
                joins=[{**PART, "table": other}],
                boundaries=result["boundaries"],
                write_ids=result["commits"][0]["write_ids"],
            )
        )
        assert nothing["outcome"] == "NOTHING", nothing


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "key", "rows"),
    [
        ("twice", "BIGINT", "SELECT id % 20 + 1, 'b' || id FROM range(200)"),
        (
            "nulls",
            "BIGINT",
            "SELECT if(id % 3 = 0, NULL, id), if(id % 5 = 0, NULL, 'b') FROM range(60)",
        ),
        ("empty", "BIGINT", "SELECT id, 'b' FROM range(0)"),
        ("words", "STRING", "SELECT explode(array('1', '01', ' 1', '1.0', 'x', '7')), 'b'"),
    ],
)
def test_no_row_is_lost_or_twice_whatever_the_joined_table_holds(
    iceberg_lake: IcebergLake, name: str, key: str, rows: str
) -> None:
    lake = iceberg_lake
    table, other = facts(lake), joined(lake, f"part_{name}", rows, key=key)
    table.say("DELETE FROM {t} WHERE id = 20")
    before = table.rows()
    (result,) = lake.optimize(
        lake.task(
            table, kind="CLUSTER", layout="sort(part.brand)", joins=[{**PART, "table": other}]
        )
    )
    assert result["outcome"] == "DONE", result
    assert table.rows() == before


def test_a_column_behind_two_joins_orders_rows_too(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table, other = facts(lake), part(lake, "part_chain")
    lake.spark.sql(f"CREATE TABLE lake.{lake.db}.makers (brand STRING, city STRING) USING iceberg")
    lake.spark.sql(
        f"INSERT INTO lake.{lake.db}.makers VALUES ('b0', 'x'), ('b1', 'y'), ('b1', 'z')"
    )
    rows = table.rows()
    joins = [
        {**PART, "table": other},
        {"alias": "maker", "table": f"{lake.db}.makers", "on": [["part.brand", "brand"]]},
    ]
    (result,) = lake.optimize(
        lake.task(table, kind="CLUSTER", layout="sort(maker.city,part.brand)", joins=joins)
    )
    assert result["outcome"] == "DONE", result
    assert table.rows() == rows


def test_what_cannot_be_looked_up_is_refused_and_nothing_is_written(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    table, other = facts(lake), part(lake, "part_bad")
    files = table.files()
    join = {**PART, "table": other}
    for layout, joins, code in (
        ("sort(part.brand)", [], "layout.join"),
        ("sort(part.gone)", [join], "layout.missing"),
        ("sort(part.tags)", [join], "layout.type"),
        ("sort(part.brand)", [{**join, "on": [["fact.gone", "key"]]}], "layout.missing"),
        ("sort(part.brand)", [{**join, "on": [["fact.id", "gone"]]}], "layout.missing"),
        ("sort(part.brand)", [{**join, "table": f"{lake.db}.nowhere"}], "iceberg.gone"),
    ):
        (result,) = lake.optimize(lake.task(table, kind="CLUSTER", layout=layout, joins=joins))
        assert result["code"] == code, result
        assert result["outcome"] in {"FAILED", "ABANDONED"}
    assert table.files() == files
