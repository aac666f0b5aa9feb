"""Tests sizes: readable, each in its bucket, and counts by bucket add up."""

from itertools import pairwise

from optimizer.core.domain.sizes import BUCKETS, added, size_words

MIB = 1024**2


def test_the_buckets_follow_each_other_without_a_gap() -> None:
    assert BUCKETS[0].low == 0
    assert BUCKETS[-1].high is None
    assert all(one.high == following.low for one, following in pairwise(BUCKETS))
    assert len({bucket.name for bucket in BUCKETS}) == len(BUCKETS)


def test_counts_add_up_and_a_shorter_list_lacks_its_last_buckets() -> None:
    whole = list(range(len(BUCKETS)))
    assert added(whole, whole) == [2 * count for count in whole]
    assert added(whole, []) == added([], whole) == whole
    assert added([1, 2], [3]) == [4, 2] + [0] * (len(BUCKETS) - 2)


def test_sizes_are_said_in_the_unit_that_fits() -> None:
    assert [size_words(n) for n in (0, 1023, 1024, 1536 * MIB, 5 * 1024**5)] == [
        *("0 bytes", "1,023 bytes", "1 KiB", "1.5 GiB", "5 PiB"),
    ]
