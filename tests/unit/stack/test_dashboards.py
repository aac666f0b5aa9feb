"""What the demo reads through StarRocks is there, and one table has drifted from Hive's."""

from datetime import date

from refresh.clusters.domain.column_drift import column_drift
from stack.dashboards import DECLARED, READ, READ_OLD, READ_SECOND
from stack.lake import second
from stack.lake.plan import tables
from stack.lake.write import DEFAULT_COLUMNS

TODAY = date(2026, 11, 22)
SPECS = {f"{spec.db}.{spec.name}": spec for spec in tables(TODAY)}


def hive_columns(name: str) -> list[tuple[str, str]]:
    spec = SPECS[name]
    assert spec.format in ("parquet", "orc")
    own = [column.partition(" ")[::2] for column in DEFAULT_COLUMNS.split(", ")]
    return [*own, *((key, "string") for key in spec.keys)]


def test_everything_that_is_read_is_in_the_lake_or_declared() -> None:
    assert SPECS.keys() >= set(READ)
    assert {f"{spec.db}.{spec.name}" for spec in second.tables(TODAY)} >= set(READ_SECOND)
    assert {f"{table.db}.{table.name}" for table in DECLARED} >= set(READ_OLD)


def test_two_tables_show_one_of_hive_and_one_has_drifted() -> None:
    shown = [f"{table.hive_db}.{table.hive_table}" for table in DECLARED]
    assert shown.count("sales.orders") == 2
    drifts = {
        table.name: column_drift(starrocks=table.columns, hive=hive_columns(name)).words
        for table, name in zip(DECLARED, shown, strict=True)
    }
    assert drifts == {
        "orders": "",
        "orders_of_the_year": "",
        "customers": "",
        "alerts": "",
        "visits_of_bots": "not in Hive: visits; not in StarRocks: amount",
    }
