"""The JVM's builders against Python's: the same blobs, byte for byte."""

import pytest

from optimizer.iceberg.indexing.domain.wanted import parse_wanted
from optimizer.iceberg.indexing.jobs import reading
from optimizer.iceberg.indexing.jobs.columns import find_columns
from optimizer.iceberg.indexing.jobs.coverage import live_files
from optimizer.iceberg.indexing.jobs.reading import BuiltIndex, build_indexes
from tests.support.iceberg_deletes import delete_positions
from tests.support.iceberg_indexes import locations
from tests.support.iceberg_lake import IcebergLake, WrittenTable

COLUMNS = {
    "flag BOOLEAN": "id % 3 = 0",
    "small INT": "CAST(id % 7 - 3 AS INT)",
    "n BIGINT": "(id * 2654435761) % 1000003 - 500000",
    "far BIGINT": "xxhash64(id)",
    "f FLOAT": "CAST(CASE id % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0.0' ELSE id / 8 END AS FLOAT)",
    "d DOUBLE": (
        "CASE id % 6 WHEN 0 THEN CAST('NaN' AS DOUBLE) WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D "
        "WHEN 3 THEN CAST('-Infinity' AS DOUBLE) ELSE -id / 3 END"
    ),
    "day DATE": "date_add(DATE '1969-11-01', CAST(id % 300 AS INT))",
    "at TIMESTAMP": "timestamp_micros(id * 7919 - 100000000)",
    "plain_at TIMESTAMP_NTZ": "CAST(timestamp_micros(id * 104729) AS TIMESTAMP_NTZ)",
    "price DECIMAL(10, 2)": "CAST((id - 900) * 1.37 AS DECIMAL(10, 2))",
    "wide DECIMAL(38, 5)": "CAST(id - 900 AS DECIMAL(38, 5)) * 1000000000000",
    "hash STRING": "sha2(CAST(id AS STRING), 256)",
    "code CHAR(6)": "concat('c', id % 30)",
    "raw BINARY": "unhex(hex(id % 150))",
    "one INT": "1",
    "none STRING": "NULL",
    "line STRING": (
        "CASE id % 5 WHEN 0 THEN concat('GET /p', id % 77, '?Q=Ä\u0130x') "
        "WHEN 1 THEN concat('日本語', id % 9, 'ab 𝄞') WHEN 2 THEN repeat('A1b', 20 + id % 100) "
        "WHEN 3 THEN CAST(id % 12 AS STRING) ELSE concat('Request-', id, ' DONE; ok_', id % 3) END"
    ),
    "ascii STRING": "concat('Line ', id % 900, ' of [Module-', id % 40, '] ', id % 7)",
    "bad STRING": (
        "if(id % 997 = 5, CAST(unhex(element_at(array('FF41', 'C080', 'EDA080', 'F4908080', "
        "'41E282'), CAST(id % 5 + 1 AS INT))) AS STRING), 'fine')"
    ),
    "st STRUCT<a: BIGINT, b: STRUCT<`c.d`: STRING>>": (
        "if(id % 5 = 0, NULL, named_struct('a', id % 90, 'b', "
        "named_struct('c.d', if(id % 7 = 0, NULL, concat('x', id % 500)))))"
    ),
}
INDEXES = (
    *("flag:bitmap", "flag", "small:bitmap", "small", "n:bloom", "n:bloomrf:12", "n:bitmap", "n"),
    *("far:bloom:22", "far:bloomrf", "f:bloom", "f:bloomrf", "f:bitmap", "d:bloom", "d:bloomrf:22"),
    *("d:bitmap", "d", "day:bloom", "day:bloomrf", "day:bitmap", "at:bloom", "at:bloomrf", "at"),
    *("plain_at:bloomrf", "plain_at:bitmap", "price:bloom", "price:bloomrf", "price:bitmap"),
    *("wide:bloom", "wide:bitmap", "wide", "hash:bloom", "hash:bloomrf", "hash:bitmap", "hash"),
    *("word:bloom", "word:bloomrf", "word:bitmap", "word", "code:bloom", "code:bitmap"),
    *("raw:bloom", "raw:bloomrf", "raw:bitmap", "one:bloom", "one:bloomrf", "one:bitmap", "one"),
    *("none:bloom", "none:bloomrf", "none:bitmap", "none", "st.a:bloom", "st.a:bitmap"),
    *("st.b.c.d:bitmap", "line:token_bloom", "line:ngram_bloom:1", "line:ngram_bloom:2"),
    *("line:ngram_bloom", "ascii:token_bloom", "ascii:ngram_bloom:1", "ascii:ngram_bloom:2"),
    *("ascii:ngram_bloom:3", "bad:token_bloom", "bad:ngram_bloom", "line:token_bitmap"),
    *("line:ngram_bitmap:2", "line:ngram_bitmap", "ascii:token_bitmap", "ascii:ngram_bitmap"),
    *("hash:token_bitmap", "bad:token_bitmap", "bad:ngram_bitmap", "none:token_bitmap"),
)
WORD = "CASE id % 4 WHEN 0 THEN '' WHEN 1 THEN 'höher' ELSE concat('w', id % 60) END"


def filled(lake: IcebergLake, form: str) -> WrittenTable:
    """Return a table of a large file and three small ones, with nulls and deleted rows."""
    table = lake.table(by="", version=2, write__format__default=form)
    table.say(f"ALTER TABLE {{t}} ADD COLUMNS ({', '.join(COLUMNS)})")
    values = {one.partition(" ")[0]: sql for one, sql in {"word STRING": WORD, **COLUMNS}.items()}
    said = [f"if((id * 7) % 11 = 0, NULL, {sql}) AS {name}" for name, sql in values.items()]
    for start, end, parts in ((0, 66_000, 1), (66_000, 66_900, 2), (66_900, 66_901, 1)):
        frame = lake.spark.range(start, end, 1, parts)
        frame.selectExpr("id", "'x' AS dt", *said).writeTo(table.sql).append()
    delete_positions(table, path="", positions=[0, 5])
    return table


@pytest.mark.parametrize("form", ["parquet", pytest.param("orc", marks=pytest.mark.long)])
def test_the_jvm_builds_what_python_builds_byte_for_byte(
    iceberg_lake: IcebergLake, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = filled(iceberg_lake, form)

    by_jvm = built(table)
    monkeypatch.setattr(reading, "is_built_by_jvm", lambda columns, records: False)
    by_python = built(table)

    assert set(by_jvm) == set(by_python) == locations(table)
    for location, expected in by_python.items():
        for ours, theirs in zip(by_jvm[location], expected, strict=True):
            assert same(ours) == same(theirs), location
            assert (ours.passed is None) == (theirs.passed is None), same(ours)
            assert abs((ours.passed or 0) - (theirs.passed or 0)) < 20_000, same(ours)
    all_built = [one for each in by_jvm.values() for one in each]
    assert {one.kind for one in all_built} == {
        *("bloom", "bloomrf", "bitmap", "token_bloom", "ngram_bloom", "token_bitmap"),
        *("ngram_bitmap", ""),
    }
    assert max(one.rows for one in all_built) == 66_000


def same(one: BuiltIndex) -> tuple[object, ...]:
    """Return what of an index must be equal: all but its false positives, which chance draws."""
    return one.rows, one.field_id, one.wanted, one.kind, one.refused, one.blob


def built(table: WrittenTable) -> dict[str, list[BuiltIndex]]:
    """Build the indexes of all files of the table."""
    opened = table.opened
    columns, refused = find_columns(opened, [parse_wanted(one) for one in INDEXES])
    assert not refused, refused
    return build_indexes(opened, live_files(opened), columns)
