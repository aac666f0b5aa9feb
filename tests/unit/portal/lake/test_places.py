"""Who has data at, under or above a place: the sweep finds what comparing all pairs finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.paths import LakePath
from portal.lake.places import Holder, Neighbours, unknown_authorities

PARTS = st.lists(st.sampled_from(["a", "b", "ab", "c=1"]), max_size=4)
PLACES = st.lists(PARTS.map(lambda parts: "file:///" + "/".join(parts)), max_size=8)
MINE = Holder("db", "mine", "dt=1")


def read(text: str) -> LakePath:
    return LakePath.parse(text, default_fs="hdfs://nn1:8020")


def is_at_or_under(place: str, other: str) -> bool:
    return read(place).segments[: read(other).depth] == read(other).segments


@given(PLACES, PLACES)
def test_a_place_is_shared_when_something_else_lies_at_or_below_it(
    candidates: list[str], others: list[str]
) -> None:
    mine = [(Holder("db", f"t{n}"), place) for n, place in enumerate(candidates)]
    theirs = [(Holder("other", f"t{n}"), place) for n, place in enumerate(others)]
    found = Neighbours([(who, read(place)) for who, place in mine], read=read, is_above=bool)
    for who, place in [*mine, *theirs]:
        found.see(who, place)
    for name, place in mine:
        shared = any(
            who != name and is_at_or_under(where, place) for who, where in [*mine, *theirs]
        )
        above = any(
            who != name and is_at_or_under(place, where) and read(where) != read(place)
            for who, where in [*mine, *theirs]
        )
        assert (found.inside(read(place)) is not None) == shared, (place, mine, theirs)
        assert (found.above(read(place)) is not None) == above, (place, mine, theirs)


@pytest.mark.parametrize(
    ("location", "is_shared"),
    [
        ("hdfs://nn1/w/a/t", True),
        ("hdfs://NN1:8020/w/a/t/deeper", True),
        ("hdfs://nameservice1/w/a/t", True),
        ("hdfs:///w/a/t", True),
        ("hdfs:/w//a/t/", True),
        ("webhdfs://nn1:9870/w/a/t", True),
        ("viewfs://cluster/w/a/t", True),
        ("/w/a/t", True),
        ("unheard-of://x/w/a/t", True),
        ("hdfs://nn1:8020/w/a", False),
        ("hdfs://nn1:8020/w/a/t2", False),
        # A bucket is a place of its own.
        ("s3a://bucket/w/a/t", False),
        # No plain path: it may lead there.
        ("/w/a/x/../t", True),
        ("/w/./a/t", True),
        ("hdfs://nn2/w/b/../a/t/x", True),
        ("a/t", True),
        ("/w/a/\x01/t", True),
        ("/w/b/../a/x", False),
        ("/a/t/../w", False),
        ("b/x", False),
        ("", False),
        (None, False),
    ],
)
def test_whatever_its_spelling_another_location_in_a_place_is_found(
    location: str | None, is_shared: bool
) -> None:
    place = read("/w/a/t")
    found = Neighbours([(MINE, place)], read=read)
    found.see(MINE, "/w/a/t")
    found.see(Holder("db", "other"), location)
    assert (found.inside(place) is not None) == is_shared


def test_buckets_are_compared_by_name() -> None:
    place = read("s3a://bucket/w")
    found = Neighbours([(MINE, place)], read=read)
    for text in ("s3a://other/w", "hdfs://nn1/w", "/bucket/w"):
        found.see(Holder("db", "other"), text)
    assert found.inside(place) is None
    found.see(Holder("db", "other"), "s3://bucket/w/x")
    assert str(found.inside(place)) == "db.other at s3://bucket/w/x"


def test_a_tables_own_partitions_are_no_neighbours_where_it_moves_whole() -> None:
    table, place = Holder("db", "t"), read("/w/t")
    found = Neighbours(
        [(table, place)], read=read, is_own=lambda seen, own: seen == own or seen.is_part_of(own)
    )
    found.see(Holder("db", "t", "dt=1"), "/w/t/dt=1")
    assert found.inside(place) is None
    found.see(Holder("db", "t", "dt=1", catalog="spark"), "/w/t/dt=1")
    assert str(found.inside(place)) == "spark.db.t/dt=1 at /w/t/dt=1"


def test_two_holders_of_one_place_share_it() -> None:
    place = read("/w/t")
    found = Neighbours([(MINE, place), (Holder("db", "mine", "dt=2"), place)], read=read)
    assert found.inside(place) is not None


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("/w/t", []),
        ("hdfs:///w/t", []),
        ("hdfs://nn1/w/t", []),
        ("webhdfs://nn1:9870/w", []),
        ("hdfs://old:8020/w", []),
        ("viewfs://cluster/w", []),
        ("s3a://bucket/w", []),
        ("file:///w", []),
        ("hdfs://nn2:8020/w", ["hdfs://nn2:8020"]),
        ("hdfs://nn1:9000/w", ["hdfs://nn1:9000"]),
        ("viewfs:///w", ["viewfs://"]),
        ("viewfs://other/w", ["viewfs://other"]),
    ],
)
def test_a_file_system_that_no_configuration_names_is_unknown(
    text: str, unknown: list[str]
) -> None:
    found = unknown_authorities([read(text)], [read("/")], aliases=("old", "Cluster"))
    assert found == unknown
