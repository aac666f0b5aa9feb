"""Values become the bytes, hashes and order numbers that docs/indexes.md says."""

import math
from decimal import Decimal
from uuid import UUID

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from optimizer.indexes.domain.byte_strings import ByteStrings
from optimizer.indexes.domain.hashing import distinct, hash_bytes, hash_strings, hash_words, mix
from optimizer.indexes.domain.values import (
    ColumnType,
    ValueClass,
    column_type,
    order_numbers,
    uuid_bytes,
    value_hashes,
)
from tests.support.index_values import plain_bytes, values_of

LONG = ColumnType(ValueClass.INTEGER)
DOUBLE = ColumnType(ValueClass.FLOAT)
TEXT = ColumnType(ValueClass.STRING)
longs = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.binary(max_size=80)))
def test_strings_hash_as_xxh64_does(strings: list[bytes]) -> None:
    wanted = [xxhash.xxh64_intdigest(one, seed=42) for one in strings]
    assert hash_strings(ByteStrings.of(strings)).tolist() == wanted


@given(st.lists(longs))
def test_numbers_hash_as_their_bytes_do(numbers: list[int]) -> None:
    wanted = [hash_bytes(plain_bytes(LONG, one)) for one in numbers]
    assert value_hashes(values_of(LONG, numbers)).tolist() == wanted


def test_hashes_are_those_of_sparks_xxhash64() -> None:
    # Seen in Spark 3.5: xxhash64('ABC'), of a long text, 0L, -1L, 9007199254740993L, NaN, 1.5D.
    text = "Grüße, 世界 0123456789 abcdefghijklmnop".encode()
    seen = [hash_bytes(one) - (1 << 64) for one in (text, b"")]
    assert seen == [-2432279064352983300, -7444071767201028348]
    assert hash_bytes(b"ABC") == 4105715581806190027
    words = np.array([0, -1, 9007199254740993], np.int64).view(np.uint64)
    assert hash_words(words).view(np.int64).tolist() == [
        -5252525462095825812,
        3858142552250413010,
        2178404700979030276,
    ]
    doubles = value_hashes(values_of(DOUBLE, [-0.0, math.nan, 1.5]))
    assert doubles.view(np.int64).tolist() == [
        -5252525462095825812,
        -3127944061524951246,
        7738255526519901366,
    ]


@given(st.lists(st.binary(max_size=20)), st.data())
def test_taken_strings_are_those_at_their_places(strings: list[bytes], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(strings) - 1))) if strings else []
    taken = ByteStrings.of(strings).take(np.array(places, np.int64))
    assert list(taken) == [strings[at] for at in places]
    assert [taken[at] for at in range(len(taken))] == list(taken)


def test_a_slice_of_a_longer_buffer_is_read_from_its_own_offsets() -> None:
    whole = ByteStrings.of([b"left out", b"kept", b"", b"out"])
    part = ByteStrings(whole.offsets[1:4], whole.data)
    assert list(part) == [b"kept", b""]
    assert hash_strings(part).tolist() == [hash_bytes(b"kept"), hash_bytes(b"")]


decimals = st.decimals(
    min_value=Decimal(-(10**36)), max_value=Decimal(10**36), places=2, allow_nan=False
).map(lambda one: one.quantize(Decimal("0.01")) if abs(one) < 10**25 else Decimal(int(one)))


@given(st.lists(decimals))
def test_decimals_have_their_shortest_twos_complement(numbers: list[Decimal]) -> None:
    kind = ColumnType(ValueClass.DECIMAL, 2, 38)
    strings = values_of(kind, numbers).strings
    assert strings is not None
    assert list(strings) == [plain_bytes(kind, one) for one in numbers]


@given(st.lists(longs, min_size=1))
def test_order_numbers_of_integers_keep_the_order(numbers: list[int]) -> None:
    found = order_numbers(values_of(LONG, numbers)).tolist()
    assert found == [one + 2**63 for one in numbers]


@given(st.lists(st.floats(allow_nan=False)))
def test_order_numbers_of_floats_keep_the_order(numbers: list[float]) -> None:
    found = order_numbers(values_of(DOUBLE, sorted(numbers))).tolist()
    assert found == sorted(found)
    nan, top, zero, minus = order_numbers(values_of(DOUBLE, [math.nan, math.inf, 0.0, -0.0]))
    assert nan > top
    assert zero == minus


@given(st.lists(st.binary(max_size=12)))
def test_order_numbers_of_strings_are_their_first_eight_bytes(strings: list[bytes]) -> None:
    found = order_numbers(values_of(TEXT, strings)).tolist()
    assert found == [int.from_bytes(one[:8].ljust(8, b"\0"), "big") for one in strings]


def test_decimals_of_many_digits_have_no_order_number() -> None:
    assert ColumnType(ValueClass.DECIMAL, 2, 18).has_order
    assert not ColumnType(ValueClass.DECIMAL, 2, 19).has_order
    short = values_of(ColumnType(ValueClass.DECIMAL, 2, 9), [Decimal("-1.50"), Decimal("2.00")])
    assert order_numbers(short).tolist() == [2**63 - 150, 2**63 + 200]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("int", ColumnType(ValueClass.INTEGER)),
        ("long", ColumnType(ValueClass.INTEGER)),
        ("float", ColumnType(ValueClass.FLOAT, single=True)),
        ("decimal(9, 2)", ColumnType(ValueClass.DECIMAL, 2, 9)),
        ("decimal(38,0)", ColumnType(ValueClass.DECIMAL, 0, 38)),
        ("fixed[16]", ColumnType(ValueClass.BINARY)),
        ("timestamptz", ColumnType(ValueClass.TIMESTAMPTZ)),
        ("struct<1: a: int>", None),
        ("variant", None),
    ],
)
def test_iceberg_types_have_their_class(name: str, expected: ColumnType | None) -> None:
    assert column_type(name) == expected


def test_nulls_are_taken_out_and_keep_their_rows() -> None:
    values = values_of(TEXT, ["a", None, "b"], first_row=7)
    assert values.without_nulls().strings is not None
    assert list(values.without_nulls().strings or ()) == [b"a", b"b"]
    assert (values.present_rows().tolist(), values.null_rows().tolist()) == ([7, 9], [8])
    numbers = values_of(LONG, [1, None], first_row=0)
    assert (numbers.without_nulls().count, numbers.null_rows().tolist()) == (1, [1])


def test_uuids_come_from_their_text() -> None:
    one = UUID("12345678-1234-5678-9abc-def012345678")
    texts = ByteStrings.of([str(one).encode(), b"", str(one).upper().encode()])
    valid = np.array([True, False, True])
    assert list(uuid_bytes(texts, valid)) == [one.bytes, bytes(16), one.bytes]


def test_the_mixer_is_the_formats() -> None:
    assert mix(np.array([0, 1], np.uint64)).tolist() == [0, 0x5692161D100B05E5]


def test_distinct_numbers_ascend() -> None:
    assert distinct(np.array([3, 1, 3], np.uint64)).tolist() == [1, 3]
    assert distinct(np.empty(0, np.uint64)).tolist() == []
