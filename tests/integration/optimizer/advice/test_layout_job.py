"""What recorded scans would read in other layouts, from a sample of a real Iceberg table."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from optimizer.advice.jobs import layout
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
N_FILES, ROWS = 12, 1_000


def shape(*filters: tuple[str, str], n_files: int = 120) -> dict[str, Any]:
    return {
        "filters": [list(one) for one in filters],
        "n_scans": 10,
        "n_files": n_files,
        "n_bytes": n_files * 1000,
    }


def looked(
    table: WrittenTable,
    *shapes: dict[str, Any],
    target_bytes: int = 1,
    candidates: Sequence[str] = (),
    given_up: Sequence[str] = (),
) -> dict[str, Any]:
    row = {
        "id": 7,
        "db": table.lake.db,
        "table": table.name,
        "uuid": table.opened.uuid,
        "target_bytes": target_bytes,
        "shapes": list(shapes),
        "n_days": 2,
        "given_up": list(given_up),
        "candidates": [{"column": one, "n_scans": 400, "n_bytes": 1} for one in candidates],
    }
    missing = {**row, "id": 8, "table": "not_there"}
    params = {"tables": [missing, row]}
    job = job_for(table.lake.spark, table.lake.config, params, now=NOW)
    rows: list[dict[str, Any]] = layout.run(table.lake.spark, job)["tables"]
    lost, found = rows
    assert (lost["id"], found["id"]) == (8, 7)
    assert "not_there" in lost["problem"]
    return found


@pytest.fixture
def loaded(iceberg_lake: IcebergLake) -> WrittenTable:
    """A table by time of load: each file holds every product and shop."""
    table = iceberg_lake.table(by="", write__distribution__mode="none")
    table.say("ALTER TABLE {t} ADD COLUMNS (Product int, shop int, sparse int, tags array<int>)")
    rows = iceberg_lake.spark.range(0, N_FILES * ROWS, 1, N_FILES).selectExpr(
        "id",
        "'d' dt",
        "'x' word",
        "cast(abs(xxhash64(id, 1)) % 300 AS int) Product",
        "cast(abs(xxhash64(id, 2)) % 60 AS int) shop",
        "cast(if(id % 10 = 0, id, null) AS int) sparse",
        "array(1) tags",
    )
    rows.writeTo(table.sql).append()
    return table


def test_the_columns_that_are_asked_are_advised_by_their_own_names(loaded: WrittenTable) -> None:
    found = looked(
        loaded,
        shape(("product", "="), n_files=400),
        shape(("shop", "="), n_files=200),
        shape(("sparse", "="), ("tags", "other"), ("gone.part", "=")),
    )
    assert found["n_files_now"] == N_FILES
    assert found["n_rows"] == N_FILES * ROWS
    assert found["now"] > 0.9  # which rows share a file in the sample varies a little
    best = found["options"][0]
    assert best["layout"] in ("hilbert(Product,shop)", "hilbert(shop,Product)")
    # A sixth of the files is read whole by what nothing helps.
    assert best["share"] < 0.6
    left_out = {one["column"]: one["reason"] for one in found["left_out"]}
    assert left_out["sparse"] == "90 % are null"
    assert left_out["gone.part"] == "not a column of the top level"


def test_no_layout_of_a_column_is_tried_that_was_given_up(loaded: WrittenTable) -> None:
    found = looked(loaded, shape(("product", "=")), shape(("shop", "=")), given_up=["product"])
    assert {one["layout"] for one in found["options"]} == {"sort(shop)"}
    (left_out,) = found["left_out"]
    assert left_out["column"] == "product"
    assert "given up" in left_out["reason"]


def test_a_column_in_the_order_of_the_load_needs_no_other(loaded: WrittenTable) -> None:
    found = looked(loaded, shape(("id", "range")))
    assert found["now"] < 0.25
    assert found["options"][0]["share"] > 0.8 * found["now"]


def test_deleted_rows_and_an_empty_table_are_no_trouble(
    iceberg_lake: IcebergLake, loaded: WrittenTable
) -> None:
    loaded.say("DELETE FROM {t} WHERE id % 2 = 1")
    assert looked(loaded, shape(("product", "=")))["n_rows"] == N_FILES * ROWS // 2
    assert looked(iceberg_lake.table(), shape(("id", "=")))["problem"] == "The table is empty."
    one_file = looked(loaded, shape(("product", "=")), target_bytes=1 << 30)
    assert one_file["n_files"] == 1


def test_indexes_of_the_columns_that_are_looked_for_are_estimated(loaded: WrittenTable) -> None:
    loaded.say("ALTER TABLE {t} ADD COLUMNS (Hash bigint)")
    loaded.say("UPDATE {t} SET Hash = xxhash64(id, 9)")
    found = looked(loaded, shape(("hash", "=")), candidates=["hash", "shop", "tags", "gone"])
    options = {one["column"]: one for one in found["indexes"]}
    assert list(options) == ["hash", "shop", "tags", "gone"]
    # Unique values, spread over all files by chance: an index finds the one that holds it.
    unique = options["hash"]
    assert (unique["kind"], unique["refused"]) == ("bloom", "")
    assert unique["files_without"] > 0.9 * N_FILES
    assert unique["files_with"] < 1.5
    assert unique["storage_bytes"] > N_FILES * ROWS
    assert "opens as many files with it as without" in options["shop"]["refused"]
    assert "of which no index can be built" in options["tags"]["refused"]
    assert "has no column gone" in options["gone"]["refused"]
