"""Indexes of real tables: every data file once, deleted rows too, and again only what is new."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from optimizer.iceberg.execution.jobs import optimize
from optimizer.iceberg.indexing.domain.wanted import coverage_part
from optimizer.indexes.domain.envelope import Kind
from tests.support.iceberg_deletes import delete_equal, delete_positions
from tests.support.iceberg_indexes import (
    blob,
    folder_of,
    index,
    locations,
    might_hold,
    names,
    newest,
)
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files

ID, WORD = 1, 3


def rows_by_file(table: WrittenTable) -> dict[str, list[Any]]:
    """Return the rows of main by data file, as they are without deletes of later."""
    found: dict[str, list[Any]] = {}
    for row in table.lake.spark.table(table.sql).select("_file", "id", "word").collect():
        found.setdefault(row["_file"], []).append(row)
    return found


@pytest.mark.parametrize(
    ("version", "form"),
    [
        *((2, "parquet"), (3, "orc")),
        *(
            pytest.param(version, form, marks=pytest.mark.long)
            for version, form in ((1, "parquet"), (1, "orc"), (2, "orc"), (3, "parquet"))
        ),
    ],
)
def test_every_data_file_is_indexed_with_its_deleted_rows(
    iceberg_lake: IcebergLake, version: int, form: str
) -> None:
    table = iceberg_lake.table(version=version, write__format__default=form)
    small_files(table, 3)
    before = rows_by_file(table)
    if version > 1:
        table.say("DELETE FROM {t} WHERE id IN (2, 11)")

    result = index(table, "id:bloom", "word:bloom")

    assert result["outcome"] == "DONE", result
    covered = newest(table).covered
    assert set(covered) == set(before) == {one["file_path"] for one in table.files()}
    for location, rows in before.items():
        file = covered[location].data_file
        assert file.records == len(rows) == sum(n for _, n in file.row_groups)
        assert file.row_groups[0][0] in (3, 4)
        for row in rows:
            assert might_hold(table, location, ID, row["id"])
            assert row["word"] is None or might_hold(table, location, WORD, row["word"])
    opened = [might_hold(table, location, ID, 12345) for location in before]
    assert not all(opened)
    assert len(names(table, "files")) == 1

    again = index(table, "id:bloom", "word:bloom")
    assert again["outcome"] == "NOTHING", again
    assert "Every data file has the indexes" in again["reason"]

    table.append([(900, DAYS[0], "late")])
    third = index(table, "id:bloom", "word:bloom")
    assert third["commits"][0]["n_indexed_files"] == 1
    assert len(newest(table).covered) == len(before) + 1
    assert table.unknown_files() - {str(path) for path in index_files(table)} == set()


def index_files(table: WrittenTable) -> list[Any]:
    return [path for path in folder_of(table).rglob("*") if path.is_file()]


def test_every_kind_of_many_types_is_built_in_one_reading(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = lake.table(by="", version=2)
    table.say(
        "ALTER TABLE {t} ADD COLUMNS (st STRUCT<a: INT, b: STRUCT<`c.d`: STRING>>, f DOUBLE, "
        "at TIMESTAMP, day DATE, price DECIMAL(10, 2), wide DECIMAL(30, 5), raw BINARY, "
        "ok BOOLEAN, one INT, none STRING)"
    )
    frame = lake.spark.range(3000, numPartitions=1).selectExpr(
        "id",
        "'2026-05-01' AS dt",
        "concat('the word number', id, ' says höher') AS word",
        "if(id % 5 = 0, NULL, named_struct('a', CAST(id % 9 AS INT), 'b', "
        "named_struct('c.d', concat('x', id % 50)))) AS st",
        "CASE id % 4 WHEN 0 THEN CAST('NaN' AS DOUBLE) WHEN 1 THEN -0.0D ELSE id / 3 END AS f",
        "timestamp_seconds(id * 1000 - 1000000) AS at",
        "date_add(DATE '1969-12-01', CAST(id % 100 AS INT)) AS day",
        "CAST(id / 7 AS DECIMAL(10, 2)) AS price",
        "CAST(id AS DECIMAL(30, 5)) * -1 AS wide",
        "CAST(concat('r', id) AS BINARY) AS raw",
        "id % 2 = 0 AS ok",
        "1 AS one",
        "CAST(NULL AS STRING) AS none",
    )
    frame.writeTo(table.sql).append()
    wanted = [
        *("id:bloom", "id:bloomrf", "word:token_bloom", "word:ngram_bloom:3", "word:token_bitmap"),
        *("word:ngram_bitmap:2", "st.a:bitmap", "st.b.c.d:bloom:12", "f:bitmap", "at", "day"),
        *("price:bloomrf", "wide:bloom", "raw", "ok", "one", "none"),
    ]

    result = index(table, *wanted)

    assert result["outcome"] == "DONE", result
    (location,) = locations(table)
    covered = newest(table).covered[location]
    fields: Any = table.opened.java.schema()

    def kinds(column: str) -> set[str]:
        field = int(fields.findField(column).fieldId())
        return {kind for of, kind in covered.blobs if of == field}

    assert kinds("id") == {"bloom", "bloomrf"}
    assert kinds("word") == {"token_bloom", "ngram_bloom", "token_bitmap", "ngram_bitmap"}
    assert (kinds("st.a"), kinds("st.b.c.d"), kinds("f")) == ({"bitmap"}, {"bloom"}, {"bitmap"})
    assert (kinds("at"), kinds("day"), kinds("ok")) == ({"bloomrf"}, {"bitmap"}, {"bitmap"})
    assert (kinds("price"), kinds("wide"), kinds("raw")) == ({"bloomrf"}, {"bloom"}, {"bloom"})
    assert (kinds("one"), kinds("none")) == (set(), set())
    assert set(covered.refused.values()) == {
        "it holds one value: least and greatest say as much.",
        "it holds only nulls: least and greatest say as much.",
    }
    for (field, kind), _ in covered.blobs.items():
        blob(table, location, field, Kind(kind))
    nested = int(fields.findField("st.b.c.d").fieldId())
    assert all(might_hold(table, location, nested, f"x{n}") for n in range(50) if n % 5)
    assert len(names(table, "files")) == 1
    again = index(table, *wanted)
    assert (again["outcome"], len(names(table, "files"))) == ("NOTHING", 1), again


def test_auto_builds_what_pays_for_the_table_and_for_how_scans_ask(
    iceberg_lake: IcebergLake,
) -> None:
    table = iceberg_lake.table(by="")
    frame = iceberg_lake.spark.range(40_000, numPartitions=20).selectExpr(
        "abs(xxhash64(id)) AS id",
        "concat('level', id % 5) AS dt",
        "concat('user ', xxhash64(id), ' failed with code ', id % 1000) AS word",
    )
    frame.writeTo(table.sql).append()
    assert len(locations(table)) >= 16, "fewer decide for themselves"

    result = index(table, "id", "dt", "word", index_uses={"word": ["part"]})

    assert result["outcome"] == "DONE", result
    built = {key for one in newest(table).covered.values() for key in one.blobs}
    assert built == {(ID, "bloomrf"), (WORD, "ngram_bloom")}
    refused = {why for one in newest(table).covered.values() for why in one.refused.values()}
    assert len(refused) == 1
    assert "as many files with it as without" in refused.pop()
    assert index(table, "id", "dt", "word")["outcome"] == "NOTHING", "what is there stays"


def test_a_column_that_was_renamed_widened_or_added_keeps_its_index(
    iceberg_lake: IcebergLake,
) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    table.say("ALTER TABLE {t} ADD COLUMN n INT")
    assert index(table, "id:bloom", "n:bloom")["outcome"] == "DONE"
    before = newest(table).covered
    table.say("ALTER TABLE {t} RENAME COLUMN id TO key")
    table.say("ALTER TABLE {t} ALTER COLUMN n TYPE BIGINT")
    table.add_field("dt")
    assert index(table, "key:bloom", "n:bloom")["outcome"] == "NOTHING"
    assert newest(table).covered == before
    table.say("INSERT INTO {t} (key, dt, word, n) VALUES (77, 'x', 'y', 5000000000)")
    assert index(table, "key:bloom", "n:bloom")["commits"][0]["n_indexed_files"] == 1
    (new,) = set(newest(table).covered) - set(before)
    assert might_hold(table, new, ID, 77)
    assert might_hold(table, new, 4, 5_000_000_000)


def test_what_cannot_be_indexed_is_told_and_the_rest_goes_on(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 1)
    table.say("ALTER TABLE {t} ADD COLUMNS (l ARRAY<INT>, ok BOOLEAN)")
    result = index(table, "id:bloom", "gone", "l", "l.element", "ok:bloom", "id:token_bloom")
    assert result["outcome"] == "PARTIAL", result
    assert "no column gone" in result["reason"]
    assert [kind for one in newest(table).covered.values() for _, kind in one.blobs] == ["bloom"]
    empty = iceberg_lake.table()
    assert index(empty, "id")["outcome"] == "NOTHING"


def test_files_of_branches_and_equality_deletes_are_indexed_whole(
    iceberg_lake: IcebergLake,
) -> None:
    table = small_files(iceberg_lake.table(version=2, by=""), 2)
    table.add_branch("aside")
    table.say("INSERT INTO {t}.branch_aside VALUES (501, 'x', 'aside')")
    before = rows_by_file(table)
    delete_equal(table, words=["w0.1", "w1.2"])
    delete_positions(table, path="", positions=[0])
    result = index(table, "id:bloom", "word:bloom")
    assert result["outcome"] == "DONE", result
    covered = newest(table).covered
    assert set(covered) == locations(table, "all_data_files")
    assert len(covered) == 3
    for location, rows in before.items():
        assert all(might_hold(table, location, ID, row["id"]) for row in rows)
    (aside,) = set(covered) - set(before)
    assert might_hold(table, aside, ID, 501)


def test_a_file_that_is_damaged_or_another_by_now_sinks_only_itself(
    iceberg_lake: IcebergLake,
) -> None:
    table = small_files(iceberg_lake.table(by=""), 3)
    torn, longer, good = sorted(locations(table))
    path = Path(torn.removeprefix("file:"))
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + b"x" * 30 + whole[70:])
    with Path(longer.removeprefix("file:")).open("ab") as stream:
        stream.write(b"more")
    for crc in path.parent.glob(".*.crc"):
        crc.unlink()
    result = index(table, "id:bloom", "word:bloom")
    assert result["outcome"] == "DONE", result
    assert set(newest(table).covered) <= {torn, good}
    assert good in newest(table).covered
    assert "another program has written it again" in result["reason"]


def test_coverage_is_told_by_column_and_partition_newest_first(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 2)
    table.append([(901, DAYS[0], "same"), (902, DAYS[0], "same")])
    columns = ["id:bloom", "word", "dt"]
    job = lake.job([lake.task(table, kind="INDEX", index_columns=columns)])
    (result,) = optimize.run(lake.spark, job)["results"]
    assert (result["outcome"], result["has_coverage"]) == ("DONE", True), result
    place = Path(str(job.spool.results.child(coverage_part(1))).removeprefix("file:"))
    rows = pq.read_table(place).to_pylist()
    assert [(one["column"], one["partition"], one["place"]) for one in rows] == [
        (column, f"dt={day}", place)
        for column in ("id", "word", "dt")
        for place, day in enumerate(DAYS)
    ]
    by_id, by_word, by_day = rows[0], rows[2], rows[4]
    assert (by_id["n_files"], by_id["n_covered"], by_id["kinds"]) == (3, 3, "bloom")
    assert by_id["n_bytes"] > 0
    assert (by_word["n_covered"], by_word["n_refused"]) == (2, 1)
    assert (by_day["n_covered"], by_day["n_refused"]) == (0, 3)
    assert "one value" in by_day["refused"]
