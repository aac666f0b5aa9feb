"""The kind of index follows from how a column looks and is asked for; its cost, from figures."""

from collections.abc import Callable

import numpy as np
import pytest

from optimizer.indexes.domain.bloom import Bloom, filter_of
from optimizer.indexes.domain.choice.costs import (
    Decision,
    Measured,
    Speeds,
    Workload,
    after_use,
    at_reading,
    before_building,
)
from optimizer.indexes.domain.choice.kinds import Use, choose, uses_by_type
from optimizer.indexes.domain.choice.profile import (
    ColumnProfile,
    distinct_values,
    profile_of,
    sampled,
)
from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.hashing import distinct, hash_words
from optimizer.indexes.domain.values import ColumnType, ValueClass, Values, number_values

LONG = ColumnType(ValueClass.INTEGER)
TEXT = ColumnType(ValueClass.STRING)
FILES, ROWS = 100, 20_000
MB = 1 << 20
Maker = Callable[[np.random.Generator, int], "np.ndarray[tuple[int], np.dtype[np.int64]]"]


def values(maker: Maker, at: int) -> Values:
    return number_values(LONG, maker(np.random.default_rng(at), at))


def profiled(maker: Maker, *, rows: int = ROWS, sample: int = 2_000) -> ColumnProfile:
    samples = []
    for at in range(FILES):
        whole = values(maker, at)
        assert whole.bits is not None
        part = np.random.default_rng(at).choice(whole.bits, sample)
        found = sampled(Values(LONG, 0, part), rows)
        assert found is not None
        samples.append(found)
    profile = profile_of(LONG, samples, files=FILES, file_bytes=64 * MB)
    assert profile is not None
    return profile


def unique(random: np.random.Generator, at: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return random.integers(-(2**62), 2**62, ROWS)


def few(random: np.random.Generator, at: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return random.integers(0, 10, ROWS)


def in_order(random: np.random.Generator, at: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return at * 100 + random.integers(0, 100, ROWS)


def some_each(random: np.random.Generator, at: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Each file holds 500 of 10,000 values, anywhere among them."""
    return random.choice(random.integers(0, 10_000, 500), ROWS)


@pytest.mark.parametrize(
    ("maker", "uses", "kind"),
    [
        (unique, {Use.POINT}, Kind.BLOOM),
        (unique, {Use.POINT, Use.RANGE}, Kind.BLOOMRF),
        (few, {Use.POINT}, Kind.BITMAP),
        (some_each, {Use.POINT, Use.RANGE}, Kind.BITMAP),
    ],
)
def test_the_kind_follows_from_the_values_and_their_use(
    maker: Maker, uses: set[Use], kind: Kind
) -> None:
    found = choose(profiled(maker), uses)
    assert found.kind == kind
    assert set(found.why_not) == set(Kind) - {kind}
    assert all(found.why_not.values())


def profile(**other: float | ColumnType) -> ColumnProfile:
    known: dict[str, float | ColumnType] = {
        "type": LONG, "files": 100, "file_bytes": 64 * MB, "rows_a_file": 1e6,
        "distinct_a_file": 1e6, "distinct": 1e8, "let_through": 1.0, **other,
    }  # fmt: skip
    return ColumnProfile(**known)  # type: ignore[arg-type]  # each field has its own type


def test_reasons_say_why_another_kind_is_not_taken() -> None:
    unique_ids = choose(profile(), {Use.POINT, Use.RANGE})
    assert "own value" in unique_ids.why_not[Kind.BITMAP]
    assert "bloomrf answers the same" in unique_ids.why_not[Kind.BLOOM]
    assert "strings alone" in unique_ids.why_not[Kind.NGRAM_BLOOM]
    wide = choose(profile(), {Use.POINT, Use.RANGE}, range_share=0.01)
    assert wide.kind == Kind.BLOOM
    assert "meets 10,000 values" in wide.why_not[Kind.BLOOMRF]
    one = choose(profile(distinct=1), {Use.POINT})
    assert (one.kind, "one value" in one.reason) == (None, True)
    ordered = choose(profile(let_through=0.011), {Use.POINT})
    assert (ordered.kind, "sorted" in ordered.why_not[Kind.BLOOM]) == (None, True)
    huge = choose(profile(rows_a_file=5e7, distinct_a_file=5e7, distinct=5e9), {Use.POINT})
    assert (huge.kind, "at most 16,000,000" in huge.why_not[Kind.BLOOM]) == (None, True)
    logs = choose(profile(type=TEXT, value_bytes=40, rows_a_file=1e5), {Use.PART})
    assert logs.kind == Kind.NGRAM_BITMAP
    books = choose(profile(type=TEXT, value_bytes=4000), {Use.PART})
    assert (books.kind, "MB of text" in books.why_not[Kind.NGRAM_BITMAP]) == (
        Kind.NGRAM_BLOOM,
        True,
    )


def test_uses_follow_from_the_type_where_no_log_says_them() -> None:
    assert uses_by_type(ValueClass.UUID) == {Use.POINT}
    assert uses_by_type(ValueClass.TIMESTAMP) == {Use.POINT, Use.RANGE}


@pytest.mark.parametrize(
    ("maker", "rows", "wanted"), [(unique, ROWS, ROWS), (few, ROWS, 10), (some_each, ROWS, 488)]
)
def test_distinct_values_are_estimated_from_a_sample(
    maker: Maker, rows: int, wanted: float
) -> None:
    whole = values(maker, 1).bits
    assert whole is not None
    part = hash_words(np.random.default_rng(3).choice(whole, 2_000, replace=False))
    assert distinct_values(part, rows) == pytest.approx(wanted, rel=0.05)
    assert distinct_values(np.empty(0, np.uint64), rows) == 0


@pytest.mark.parametrize("maker", [unique, some_each, in_order])
def test_the_estimate_is_what_real_filters_do(maker: Maker) -> None:
    filters, bounds, asked = [], [], []
    for at in range(FILES):
        whole = values(maker, at).bits
        assert whole is not None
        filters.append(Bloom.read(filter_of(distinct(hash_words(whole)), 10)))
        numbers = whole.view(np.int64)
        bounds.append((numbers.min(), numbers.max()))
        asked += numbers[:3].tolist()
    within = np.array([[low <= one <= high for one in asked] for low, high in bounds])
    hashes = hash_words(np.array(asked, np.int64).view(np.uint64))
    passed = np.array([one.might_hold(hashes) for one in filters]) & within
    judged = before_building(Kind.BLOOM, profiled(maker), Workload())
    assert judged.figures["files_without"] == pytest.approx(within.sum(axis=0).mean(), rel=0.15)
    assert judged.figures["files_with"] == pytest.approx(passed.sum(axis=0).mean(), rel=0.15)


def test_an_index_is_refused_where_it_costs_more_than_it_saves() -> None:
    good = before_building(Kind.BLOOM, profile(), Workload())
    assert (good.decision, good.figures["files_without"]) == (Decision.BUILD, 100)
    everywhere = before_building(Kind.BITMAP, profile(distinct_a_file=10, distinct=10), Workload())
    assert everywhere.decision == Decision.REFUSE
    assert "as many files" in everywhere.reason
    tiny = profile(file_bytes=100_000, rows_a_file=2_000_000, distinct_a_file=2_000_000)
    slow = before_building(Kind.BLOOM, tiny, Workload(), speeds=Speeds(request_ms=60))
    assert slow.decision == Decision.REFUSE
    assert slow.figures["planning_ms"] > slow.figures["saved_ms"]
    rare = before_building(Kind.BLOOM, profile(), Workload(queries_a_day=0.001))
    assert (rare.decision, "too little for 100 s" in rare.reason) == (Decision.REFUSE, True)


def test_an_index_that_does_not_pay_is_dropped_after_enough_queries() -> None:
    idle = Measured(100, 10_000, 3, 1e6, 5e8)
    assert after_use(idle).decision == Decision.DROP
    assert after_use(Measured(19, 10_000, 3, 1e6, 5e8)).decision == Decision.KEEP
    busy = after_use(Measured(100, 10_000, 9_900, 5e11, 5e8))
    assert (busy.decision, busy.figures["files_dropped"]) == (Decision.KEEP, 9_900)


def test_a_query_passes_over_blobs_that_load_slower_than_they_save() -> None:
    assert at_reading(100, 100 * 75_000, 100 * 64e6).decision == Decision.USE
    assert at_reading(1, 75_000, 64e6).decision == Decision.SKIP
    never = at_reading(100, 100 * 75_000, 100 * 64e6, expected_dropped=0.0)
    assert (never.decision, never.figures["saved_ms"]) == (Decision.SKIP, 0)
    assert at_reading(50, 50 * 60e6, 50 * 1e6).decision == Decision.SKIP
