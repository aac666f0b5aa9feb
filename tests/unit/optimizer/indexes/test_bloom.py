"""Bloom filters never deny a key, and pass as few others as the figures say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.indexes.domain.bloom import Bloom, DistinctHashes, TooManyKeys, filter_of
from optimizer.indexes.domain.hashing import hash_words

words = st.lists(st.integers(0, 2**64 - 1))


@given(st.lists(words), st.sampled_from([1, 5, 10, 20]))
def test_no_key_is_denied(chunks: list[list[int]], bits: int) -> None:
    hashes = DistinctHashes()
    for chunk in chunks:
        hashes.add(np.array(chunk, np.uint64))
    read = Bloom.read(filter_of(hashes.all(), bits))
    keys = np.array([one for chunk in chunks for one in chunk], np.uint64)
    assert read.might_hold(keys).all()
    assert read.n == len(set(keys.tolist()))


def test_a_filter_without_keys_denies_all() -> None:
    read = Bloom.read(filter_of(DistinctHashes().all(), 10))
    assert read.m == 0
    assert not read.might_hold(np.array([1, 2], np.uint64)).any()
    assert read.false_positives == 0


@pytest.mark.parametrize(("bits", "most"), [(10, 0.0095), (20, 0.00016)])
def test_false_positives_are_as_few_as_the_bits_allow(bits: int, most: float) -> None:
    read = Bloom.read(filter_of(hash_words(np.arange(60_000, dtype=np.uint64)), bits))
    others = hash_words(np.arange(1_000_000, 2_000_000, dtype=np.uint64))
    assert read.might_hold(others).mean() < most
    assert read.false_positives == pytest.approx(read.might_hold(others).mean(), abs=0.001)


@pytest.mark.parametrize("cut", range(0, 40, 3))
def test_a_cut_body_is_refused(cut: int) -> None:
    body = filter_of(np.arange(10, dtype=np.uint64), 10)
    with pytest.raises(ValueError, match=r"shorter|disagree"):
        Bloom.read(body[:cut])


def test_too_many_keys_are_refused_and_repeats_are_not_keys() -> None:
    hashes = DistinctHashes(most=1000)
    for _ in range(5):
        hashes.add(np.arange(1000, dtype=np.uint64))
    assert len(hashes.all()) == 1000
    hashes.add(np.array([5000], np.uint64))
    with pytest.raises(TooManyKeys, match="1,000"):
        hashes.all()
    big = DistinctHashes(most=1000)
    with pytest.raises(TooManyKeys):
        big.add(np.arange(2_000_000, dtype=np.uint64))
