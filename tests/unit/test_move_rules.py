"""Moves: what settle makes of what is where, and how a registered location gets its new text."""

import itertools

import pytest

from portal.act.move_settle import Lies, Rest, decide_move
from portal.act.moves import Registered, placed
from portal.act.records import Generation
from portal.lake.paths import LakePath

N, W, X = Lies.NOTHING, Lies.WHOLE, Lies.OTHER


@pytest.mark.parametrize(
    ("registered", "places", "rest"),
    [
        ("OLD", (W, N, N), Rest.NOTHING_HAPPENED),
        ("OLD", (W, N, X), Rest.NOTHING_HAPPENED),
        ("OLD", (N, W, N), Rest.HALF_DONE),
        ("OLD", (N, W, X), Rest.HALF_DONE),
        ("OLD", (N, N, W), Rest.HALF_DONE),
        ("MIXED", (N, N, W), Rest.HALF_DONE),
        ("MIXED", (W, N, N), Rest.HALF_DONE),
        ("NEW", (W, N, N), Rest.HALF_DONE),
        ("NEW", (N, N, W), Rest.DONE),
        ("NEW", (X, N, W), Rest.NEW_DATA),
        ("NEW", (W, N, W), Rest.NEW_DATA),
        ("OTHER", (N, W, N), Rest.FOREIGN),
        ("OTHER", (N, N, W), Rest.FOREIGN),
        ("OTHER", (W, N, N), Rest.FOREIGN),
        ("OLD", (W, N, W), Rest.DANGER),
        ("OLD", (X, N, W), Rest.DANGER),
        ("OLD", (W, W, N), Rest.DANGER),
        ("OLD", (N, X, N), Rest.DANGER),
        ("NEW", (N, N, X), Rest.DANGER),
        ("OLD", (N, N, N), Rest.DANGER),
    ],
)
def test_what_is_where_decides(
    registered: str, places: tuple[Lies, Lies, Lies], rest: Rest
) -> None:
    source, home, target = places
    assert decide_move(Registered(registered), source=source, home=home, target=target) is rest


def test_data_that_is_nowhere_whole_is_always_danger() -> None:
    for registered, *places in itertools.product(Registered, (N, X), (N, X), (N, X)):
        source, home, target = places
        found = decide_move(registered, source=source, home=home, target=target)
        assert found is Rest.DANGER, (registered, places)


def read(text: str) -> LakePath:
    return LakePath.parse(text, default_fs="hdfs://lake", aliases={"nn1:9000": "lake"})


@pytest.mark.parametrize(
    ("location", "data_path", "expected"),
    [
        ("hdfs://nn1:9000/old/t", None, ("hdfs://nn1:9000/new/t", None)),
        ("hdfs://lake/old/t/dt=1/", None, ("hdfs://lake/new/t/dt=1", None)),
        ("/old/t", "hdfs://lake/old/t", ("/new/t", "hdfs://lake/new/t")),
        (
            "hdfs://lake/user/hive/t-__PLACEHOLDER__",
            "/old/t",
            ("hdfs://lake/user/hive/t-__PLACEHOLDER__", "/new/t"),
        ),
        ("/old/tt", None, ("/old/tt", None)),
        ("hdfs://LAKE//old//t", None, ("hdfs://lake/new/t", None)),
    ],
)
def test_a_location_keeps_its_own_spelling_and_foreign_ones_stay(
    location: str, data_path: str | None, expected: tuple[str, str | None]
) -> None:
    before = Generation(7, 8, location, data_path)
    after = placed(before, read("/old/t"), read("/new/t"), read=read)
    assert (after.location, after.data_path) == expected
    assert (after.create_time, after.ddl_time) == (7, 8)
