"""Boundaries: an id counts those that are not above a value, and every column fills the bits."""

import json
import math
from bisect import bisect_right
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.iceberg.rewrite.domain.boundaries import (
    MOST_TEXT,
    Boundaries,
    ColumnBoundaries,
    Ranks,
)
from optimizer.iceberg.rewrite.domain.value_forms import Form, form_of, scale_of
from portal.lake.errors import RuleViolation

LONGS = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)
DOUBLES = st.floats() | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-310])
TEXTS = st.text(max_size=8) | st.text("ab\0\U0010ffff\uffffé", max_size=6)
SAMPLES = st.one_of(
    st.tuples(st.just(Form.WHOLE), st.lists(LONGS, max_size=60)),
    st.tuples(st.just(Form.REAL), st.lists(DOUBLES, max_size=60)),
    st.tuples(st.just(Form.TEXT), st.lists(TEXTS.map(str.encode), max_size=60)),
)


def array(form: str, values: list[Any]) -> np.ndarray:
    kinds: dict[str, type] = {Form.REAL: np.float64, Form.TEXT: object}
    return np.array(values, dtype=kinds.get(form, np.int64))


def place(form: str, value: Any) -> Any:
    """Return what a value or a boundary is compared by, in plain Python; NaN is above all."""
    if form == Form.TEXT:
        return value if isinstance(value, bytes) else value.encode()
    if form == Form.REAL:
        value = float(value)
        return (1, 0.0) if math.isnan(value) else (0, value)
    return value


def sampled(form: str, values: list[Any], *, n_ids: int = 16) -> ColumnBoundaries:
    return ColumnBoundaries.of_sample("c", form, array(form, values), n_ids=n_ids)


@given(SAMPLES, st.integers(2, 20))
def test_an_id_is_the_number_of_boundaries_not_above_the_value(
    sample: tuple[str, list[Any]], n_ids: int
) -> None:
    form, values = sample
    boundaries = sampled(form, values, n_ids=n_ids)
    edges = [place(form, one) for one in boundaries.values]
    assert edges == sorted(set(edges))
    assert len(edges) < n_ids
    wanted = [bisect_right(edges, place(form, value)) for value in values]
    found = Ranks(boundaries, bits=10)(array(form, values)).tolist()
    assert found == [one * 1023 // max(len(edges), 1) for one in wanted]


@given(SAMPLES, st.integers(2, 20))
def test_boundaries_come_back_from_json_exactly_equal(
    sample: tuple[str, list[Any]], n_ids: int
) -> None:
    form, values = sample
    written = Boundaries((sampled(form, values, n_ids=n_ids),), bits=9)
    text = json.dumps(written.as_dict(), allow_nan=False)
    read = Boundaries.from_dict(json.loads(text))
    assert read == written
    (before,), (after,) = written.ranks(), read.ranks()
    more = array(form, values)
    assert before.edges.tobytes() == after.edges.tobytes()
    assert before(more).tolist() == after(more).tolist()


@given(SAMPLES)
def test_a_greater_value_never_has_a_smaller_id(sample: tuple[str, list[Any]]) -> None:
    form, values = sample
    ordered = sorted(values, key=lambda value: place(form, value))
    ids = Ranks(sampled(form, values[::2]), bits=10)(array(form, ordered)).tolist()
    assert ids == sorted(ids)


def test_as_many_ids_as_asked_share_the_rows_evenly_and_fill_the_bits() -> None:
    values = np.random.default_rng(1).permutation(100_000) - 50_000
    boundaries = ColumnBoundaries.of_sample("c", Form.WHOLE, values, n_ids=256)
    ids, rows = np.unique(Ranks(boundaries, bits=10)(values), return_counts=True)
    assert (len(ids), ids[0], ids[-1]) == (256, 0, 1023)
    assert rows.min() >= 390
    assert rows.max() <= 391


def test_two_values_and_a_thousand_fill_the_same_bits() -> None:
    few = Ranks(sampled(Form.WHOLE, [0, 1] * 50, n_ids=256), bits=10)
    many = Ranks(sampled(Form.WHOLE, list(range(1000)), n_ids=256), bits=10)
    assert few(np.array([0, 1])).tolist() == [511, 1023]
    assert many(np.array([999, 10**9])).tolist() == [1023, 1023]


def test_nulls_have_id_zero_below_everything() -> None:
    ranks = Ranks(sampled(Form.WHOLE, [1, 2, 3, 4]), bits=10)
    found = ranks(np.array([4, 1, 4]), is_null=np.array([True, False, False]))
    assert found.tolist() == [0, 255, 1023]


def test_equal_quantiles_are_dropped_however_skewed_a_column_is() -> None:
    values = [7] * 990 + [-5, 0, 8, 9, 10, 11, 12, 13, 14, 10**12]
    boundaries = sampled(Form.WHOLE, values, n_ids=256)
    assert len(boundaries.values) < 5
    assert 7 in boundaries.values
    assert sampled(Form.WHOLE, [7] * 1000).values == (7,)


def test_a_column_without_a_sample_has_one_id() -> None:
    for form in (Form.WHOLE, Form.REAL, Form.TEXT):
        ranks = Ranks(sampled(form, []), bits=10)
        value: dict[str, Any] = {Form.REAL: math.nan, Form.TEXT: b"x"}
        assert ranks(array(form, [value.get(form, 5)])).tolist() == [0]


def test_doubles_are_in_the_order_of_spark() -> None:
    values = [-math.inf, -1.5, -0.0, 0.0, 5e-324, math.inf, math.nan]
    boundaries = sampled(Form.REAL, values, n_ids=64)
    assert boundaries.values == ("-inf", "-1.5", "0.0", "5e-324", "inf", "nan")
    found = Ranks(boundaries, bits=10)(np.array(values))
    assert found.tolist() == [170, 341, 511, 511, 682, 852, 1023]


def test_texts_are_in_the_order_of_their_characters() -> None:
    # As UTF-16 the last two would stand the other way round.
    texts = ["", "B", "a", "é", "日本", "\uffff", "\U0001f600"]
    boundaries = sampled(Form.TEXT, [one.encode() for one in texts], n_ids=64)
    found = Ranks(boundaries, bits=10)(array(Form.TEXT, [one.encode() for one in texts]))
    assert found.tolist() == sorted(set(found.tolist()))


def test_no_more_of_a_text_is_stored_than_tells_it_from_the_one_below() -> None:
    texts = [b"anna@example.org", b"annette@example.org", b"bert@example.org"]
    assert sampled(Form.TEXT, texts, n_ids=64).values == ("a", "anne", "b")
    long = ["x" * 5000 + str(n) for n in range(10)]
    values = sampled(Form.TEXT, [one.encode() for one in long], n_ids=64).values
    assert values == ("x", "x" * MOST_TEXT)


def test_bytes_that_are_no_text_get_an_id_too() -> None:
    boundaries = sampled(Form.TEXT, [b"a", b"\xff\xfe", b"b"], n_ids=64)
    json.dumps(boundaries.values).encode()
    assert len(set(Ranks(boundaries, bits=10)(array(Form.TEXT, [b"a", b"\xff"])).tolist())) == 2


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"bits": 10, "columns": [{"column": "a", "form": "whole", "values": [2, 1]}]},
        {"bits": 10, "columns": [{"column": "a", "form": "whole", "values": [1, 1]}]},
        {"bits": 10, "columns": [{"column": "a", "form": "whole", "values": [2**64]}]},
        {"bits": 10, "columns": [{"column": "a", "form": "whole", "values": ["x"]}]},
        {"bits": 10, "columns": [{"column": "a", "form": "real", "values": ["x"]}]},
        {"bits": 10, "columns": [{"column": "a", "form": "hole", "values": [1]}]},
        {"bits": 10, "columns": 5},
    ],
)
def test_stored_boundaries_that_make_no_sense_are_refused(stored: dict[str, Any]) -> None:
    with pytest.raises(RuleViolation, match="new sample") as refused:
        Boundaries.from_dict(stored)
    assert refused.value.code == "boundaries.stored"


def test_every_type_with_an_order_has_a_form() -> None:
    forms = {
        "boolean": "whole",
        "bigint": "whole",
        "float": "real",
        "decimal(18,4)": "scaled(4)",
        "decimal(38,4)": "real",
        "date": "days",
        "timestamp": "micros",
        "timestamp_ntz": "micros",
        "string": "text",
        "varchar(10)": "text",
    }
    assert {name: form_of(name) for name in forms} == forms
    assert (scale_of("scaled(4)"), scale_of("whole")) == (4, None)
    for name in ("struct<a:int>", "binary", "array<int>", "map<int,int>", "interval day"):
        with pytest.raises(RuleViolation, match=name.split("<")[0]):
            form_of(name)


def rounded(form: str, sample: np.ndarray) -> list[int]:
    found = ColumnBoundaries.of_sample("c", form, sample, is_round=True)
    assert Ranks(found, bits=10).ids[-1] == 1023  # refuses what does not ascend
    return [int(one) for one in found.values]


def test_the_greater_cells_end_at_round_numbers_and_the_others_stay() -> None:
    sample = np.random.default_rng(5).integers(0, 1_000_000, 200_000)
    plain = [int(one) for one in ColumnBoundaries.of_sample("c", Form.WHOLE, sample).values]
    found = rounded(Form.WHOLE, sample)
    changed = [n for n, (old, new) in enumerate(zip(plain, found, strict=True)) if old != new]
    assert {n % 16 for n in changed} == {15}
    assert (found[63], found[127], found[191]) == (250_000, 500_000, 750_000)
    assert all(one % 1000 == 0 for one in found[15::16])
    assert rounded("scaled(2)", sample * 100)[127] == 50_000_000
    assert rounded(Form.DAYS, sample) == plain


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.5, 0.9]), st.integers(10_000, 2**63))
def test_round_boundaries_ascend_and_lie_between_their_neighbours(
    seed: int, skew: float, width: int
) -> None:
    chance = np.random.default_rng(seed)
    sample = chance.integers(-width, width, 20_000, dtype=np.int64)
    sample[: int(skew * 20_000)] //= 5000
    plain = [int(one) for one in ColumnBoundaries.of_sample("c", Form.WHOLE, sample).values]
    found = rounded(Form.WHOLE, sample)
    assert len(found) == len(plain)
    for n, one in enumerate(found):
        assert n == 0 or plain[n - 1] < one
        assert n + 1 == len(plain) or one < plain[n + 1]


def test_few_values_are_told_apart_and_not_rounded() -> None:
    sample = np.random.default_rng(5).integers(0, 250, 100_000) * 7919 + 3
    assert set(rounded(Form.WHOLE, sample)) <= set(sample.tolist())
