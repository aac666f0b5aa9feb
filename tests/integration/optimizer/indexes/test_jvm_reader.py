"""What the JVM reads in index blobs of random columns, and in damaged ones."""

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from optimizer.indexes.domain.values import ColumnType, ValueClass, column_type
from tests.support.index_values import Plain
from tests.support.jvm_indexes import JvmReader
from tests.support.plain_indexes import BlobOf, blob, sealed

TABLE = UUID("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
LOCATION = "file:/lake/größe.parquet"
LONG = ColumnType(ValueClass.INTEGER)
TEXT = ColumnType(ValueClass.STRING)


@pytest.fixture(scope="module")
def reader(spark: SparkSession) -> JvmReader:
    return JvmReader(spark)


def _numbers(rng: random.Random) -> list[Plain | None]:
    span = rng.choice([3, 50, 10**6, 2**62])
    return [rng.choice([None, rng.randint(-span, span)]) for _ in range(rng.randint(0, 60))]


def _holds(op: str, wanted: list[Any]) -> Callable[[Any], bool]:
    return {
        "=": lambda x: x == wanted[0],
        "in": lambda x: x in wanted,
        "<": lambda x: x < wanted[0],
        "<=": lambda x: x <= wanted[0],
        ">": lambda x: x > wanted[0],
        ">=": lambda x: x >= wanted[0],
    }[op]


@pytest.mark.parametrize("kind", ["bloom", "bloomrf", "bitmap", "bitmap sliced"])
@pytest.mark.parametrize("type_", ["long", "string", "double", "decimal(12,2)"])
def test_no_row_is_lost_of_numbers_and_strings(reader: JvmReader, kind: str, type_: str) -> None:
    rng = random.Random(f"{kind} {type_}")
    of = column_type(type_)
    assert of is not None
    make: dict[str, Callable[[Any], Plain]] = {
        "long": int,
        "string": lambda x: f"{x:x}"[::-1],
        "double": lambda x: x / 8,
        "decimal(12,2)": lambda x: Decimal(x % 10**10).scaleb(-2),
    }
    excluded = 0
    for _ in range(12):
        numbers = _numbers(rng)
        column = [None if x is None else make[type_](x) for x in numbers]
        data = blob(kind, BlobOf(TABLE, LOCATION, 7, of), column)
        index = reader.read_as(
            data, table=TABLE, field=7, location=LOCATION, rows=len(column), kind=of
        )
        known = [x for x in column if x is not None]
        for op in ("=", "in", "<", "<=", ">", ">="):
            far = [make[type_](rng.randint(-(2**62), 2**62)) for _ in range(2)]
            near = [*far, *known[:2]]
            wanted = rng.choices(near, k=3 if op == "in" else 1)
            truth = [row for row, x in enumerate(column) if x is not None and _holds(op, wanted)(x)]
            leaf = reader.leaf(of, 7, op, wanted)
            kept, rows = reader.ask(index, leaf)
            assert kept or not truth, (op, wanted)
            excluded += not kept
            if kind.startswith("bitmap"):
                assert rows == truth, (op, wanted)
                others = [r for r, x in enumerate(column) if x is not None and r not in truth]
                assert reader.ask(index, leaf, negated=True)[1] == others
                nulls = [row for row, x in enumerate(column) if x is None]
                assert reader.ask(index, reader.leaf(of, 7, "is null", []))[1] == nulls
    assert excluded


@pytest.mark.parametrize("kind", ["token_bloom", "token_bitmap", "ngram_bloom", "ngram_bitmap"])
def test_no_text_is_lost(reader: JvmReader, kind: str) -> None:
    rng = random.Random(kind)
    letters = "abAB1 -é世İK"
    narrowed = 0
    for _ in range(12):
        texts = [
            rng.choice([None, "".join(rng.choices(letters, k=rng.randint(0, 9)))])
            for _ in range(rng.randint(1, 30))
        ]
        n = rng.choice([1, 2, 3])
        index = reader.read(blob(kind, BlobOf(TABLE, LOCATION, 3, TEXT), texts, n=n))
        for _ in range(12):
            given = rng.choice([text for text in texts if text] or ["ab"])
            at = rng.randint(0, len(given) - 1)
            part = given[at : at + rng.randint(1, 5)] or "a"
            op = rng.choice(["contains", "begins", "ends", "="])
            lowered = rng.random() < 0.4
            part = part.lower() if lowered else part
            truth = [
                r for r, text in enumerate(texts) if text and _matches(op, text, part, lowered)
            ]
            name = f"lower {op}" if lowered else op
            kept, rows = reader.ask(index, reader.leaf(TEXT, 3, name, [part]))
            assert kept or not truth, (op, part, texts)
            assert rows is None or set(truth) <= set(rows), (op, part, texts)
            narrowed += rows is not None and len(rows) < len(texts)
    assert narrowed > 5 or kind.endswith("bloom")


def _matches(op: str, text: str, part: str, lowered: bool) -> bool:
    text = text.lower() if lowered else text
    match op:
        case "contains":
            return part in text
        case "begins":
            return text.startswith(part)
        case "ends":
            return text.endswith(part)
        case _:
            return text == part


def test_a_pattern_of_like_asks_for_what_stands_between_its_wildcards(reader: JvmReader) -> None:
    texts = ["ERROR disk full", "error net down", "ok", None]
    of = BlobOf(TABLE, LOCATION, 3, TEXT)
    words = reader.read(blob("token_bitmap", of, texts))
    pairs = reader.read(blob("ngram_bitmap", of, texts))

    def rows(index: Any, pattern: str) -> list[int] | None:
        return reader.ask(index, reader.leaf(TEXT, 3, "like", [pattern]))[1]

    assert rows(words, "%disk%") == [0, 1, 2]
    assert rows(words, "% disk %") == [0]
    assert rows(words, "error%") == [0, 1, 2]
    assert rows(words, "error %") == [0, 1]
    assert rows(pairs, "%disk%") == [0]
    assert rows(pairs, "%net_down%") == [1]
    assert rows(pairs, "%a\\%b%") == []
    assert rows(pairs, "%_%") == [0, 1, 2]


def test_a_blob_of_something_else_or_damaged_is_refused(reader: JvmReader) -> None:
    data = blob("bitmap", BlobOf(TABLE, LOCATION, 7, LONG), [1, None, 3])
    right: dict[str, Any] = {
        "table": TABLE,
        "field": 7,
        "location": LOCATION,
        "rows": 3,
        "kind": LONG,
    }
    assert reader.read_as(data, **right) is not None
    for wrong in (
        {"table": UUID(int=1)},
        {"field": 8},
        {"location": LOCATION + "x"},
        {"rows": 4},
        {"kind": TEXT},
    ):
        with pytest.raises(Py4JJavaError, match="Unusable"):
            reader.read_as(data, **{**right, **wrong})
    body = bytearray(data[:-4])
    for at, byte in ((4, 2), (5, 9), (5, 0), (6, 14), (7, 16), (0, 0)):
        changed = bytearray(body)
        changed[at] = byte
        with pytest.raises(Py4JJavaError, match="Unusable"):
            reader.read_as(sealed(bytes(changed)), **right)


@pytest.mark.parametrize("kind", ["bloom", "bloomrf", "bitmap", "bitmap sliced", "token_bitmap"])
def test_a_blob_cut_or_with_any_byte_changed_is_refused(reader: JvmReader, kind: str) -> None:
    of = TEXT if kind.startswith("token") else LONG
    column: list[Plain | None] = ["ab cd", None] if of is TEXT else [1, None, 300]
    data = blob(kind, BlobOf(TABLE, LOCATION, 7, of), column)
    for at in range(len(data)):
        with pytest.raises(Py4JJavaError, match="Unusable"):
            reader.read(data[:at])
    for at in range(0, len(data), 3):
        changed = bytearray(data)
        changed[at] ^= 0x10
        with pytest.raises(Py4JJavaError, match="Unusable"):
            reader.read(bytes(changed))


@pytest.mark.parametrize("kind", ["bloom", "bloomrf", "bitmap", "bitmap sliced", "token_bitmap"])
def test_a_body_that_lies_under_a_right_checksum_is_refused_or_answers(
    reader: JvmReader, kind: str
) -> None:
    rng = random.Random(kind)
    of = TEXT if kind.startswith("token") else LONG
    column: list[Plain | None] = ["ab cd", None] if of is TEXT else [1, None, 300]
    data = blob(kind, BlobOf(TABLE, LOCATION, 7, of), column)
    wanted: list[Plain] = ["ab"] if of is TEXT else [300]
    op = "contains" if of is TEXT else "<="
    for _ in range(60):
        changed = bytearray(data[:-4])
        changed[rng.randrange(48, len(changed))] = rng.randrange(256)
        try:
            index = reader.read(sealed(bytes(changed)))
            reader.ask(index, reader.leaf(of, 7, op, wanted))
        except Py4JJavaError as error:
            name = error.java_exception.getClass().getName()
            assert "Error" not in name.rsplit(".", 1)[-1] or name.endswith("InternalError"), name
