"""Tests a snapshot's totals: what is taken where another writer set or omitted them."""

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.access.jobs.iceberg import IcebergTable

TEXTS = st.none() | st.text(max_size=6) | st.integers().map(str)


def table_with(summary: dict[str, str | None] | None, *, is_empty: bool = False) -> IcebergTable:
    snapshot = None if is_empty else SimpleNamespace(summary=lambda: summary)
    spark: Any = None
    java = SimpleNamespace(currentSnapshot=lambda: snapshot)
    return IcebergTable(spark, "shop", "clicks", java)


def test_totals_are_read_and_an_empty_table_has_none_of_anything() -> None:
    said = {"total-data-files": "3", "total-files-size": "1024", "total-delete-files": "0"}
    table = table_with({**said, "total-records": "12"})
    assert table.totals() == {"n_files": 3, "n_bytes": 1024, "n_delete_files": 0}
    assert table.n_rows == 12
    assert table_with(None, is_empty=True).totals() == dict.fromkeys(table.totals(), 0)


def test_a_snapshot_without_a_summary_says_nothing() -> None:
    assert (table_with(None).totals(), table_with(None).n_rows) == ({}, 0)


@given(records=TEXTS, n_files=TEXTS)
def test_any_text_of_another_writer_is_a_count_or_nothing(
    records: str | None, n_files: str | None
) -> None:
    table = table_with({"total-records": records, "total-data-files": n_files})
    assert table.n_rows >= 0
    assert all(total >= 0 for total in table.totals().values())
    assert "n_bytes" not in table.totals()


def test_what_is_no_number_is_left_out() -> None:
    table = table_with({"total-records": "many", "total-data-files": "-1", "total-files-size": "7"})
    assert (table.n_rows, table.totals()) == (0, {"n_bytes": 7})
