"""The guard's Java reads values and places as the portal's Python does, the odd ones above all."""

import random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lifecycle.core.domain.enrollment import read_policy
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

VALUES = [
    *("", "0", "1", "2", "00", "01", "60", "0060", " 60 ", "\t60", "60\n", "+60", "-1", "6e1"),
    *("60 days", "36500", "36501", "99999", "100000", "1000000000000", "٦٠", "60.0", "0x10"),
    *("1 ", " 0", "true", "None", "½", "60\u00a0", "\u200760", "\uff10"),
]
KEYS = ("LEVEL", "level", "TTL", "ttl", "note", "transient_lastDdlTime")


def test_level_and_ttl_are_read_alike(spark: SparkSession) -> None:
    guard: Any = spark._jvm
    rng = random.Random(4)
    cases = [{key: value} for key in KEYS for value in VALUES]
    cases += [
        {key: rng.choice(VALUES) for key in rng.sample(KEYS, rng.randint(0, 4))}
        for _ in range(1_500)
    ]
    n_problems = 0
    for parameters in cases:
        read, wanted = guard.lakewarden.guard.Policy.of(parameters), read_policy(parameters)
        got = (read.level(), read.ttl(), bool(read.problem()))
        assert got == (wanted.level, wanted.ttl, bool(wanted.problem)), parameters
        n_problems += bool(wanted.problem)
    assert 200 < n_problems < len(cases) - 50


@pytest.mark.parametrize("default_fs", ["file:///", "hdfs://nn:8020"])
def test_places_are_read_and_compared_alike(spark: SparkSession, default_fs: str) -> None:
    guard: Any = spark._jvm
    aliases = {"alias": "nn:8020"}
    rng = random.Random(9)
    pieces = ["/", "//", ".", "..", "a", "ü b", "%2F", "hdfs:", "file:", "://", "nn:8020", "ALIAS"]
    texts = ["".join(rng.choices(pieces, k=rng.randint(1, 7))) for _ in range(1_000)]
    texts += ["/a/b", "/a/bc", "/a/b/", "file:/a", "FILE:///A", "hdfs://alias/x", "/", "", "/\x7f"]
    read: list[tuple[LakePath, Any]] = []
    for text in texts:
        place = guard.lakewarden.guard.Place.of(text, default_fs, aliases)
        try:
            path = LakePath.parse(text, default_fs=default_fs, aliases=aliases)
        except RuleViolation:
            assert place is None, repr(text)
            continue
        assert place is not None, repr(text)
        assert place.toString() == str(path), repr(text)
        read.append((path, place))
    assert len(read) > 150
    for _ in range(1_000):
        (path, place), (other, other_place) = rng.choice(read), rng.choice(read)
        under = path.is_at_or_under(other)
        assert place.isAtOrUnder(other_place) == under, (path, other)
        assert place.isBelow(other_place) == (under and path != other), (path, other)
