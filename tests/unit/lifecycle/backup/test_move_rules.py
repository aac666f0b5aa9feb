"""Moves: what settle makes of what is where, and how a registered location gets its new text."""

import dataclasses
import itertools

import pytest

from lifecycle.backup.engine.journal.records import Generation
from lifecycle.backup.engine.move.records import MoveItem, Registered, placed
from lifecycle.backup.engine.settle.moves import Lies, Rest, decide_move
from lifecycle.relocation.jobs import Moves
from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.lake.ids import LakeId
from portal.lake.paths import LakePath
from portal.lake.places import Holder

CONFIG = LakeConfig(
    lake=LakeId("main"),
    thrift_host="h",
    thrift_port=1,
    metastore_db=MetastoreDb("derby", "j", "d", "u", "f", "h", 1, "m"),
    default_fs="hdfs://lake",
    spool="hdfs://lake/spool",
    time_zone="UTC",
    spark_master="local[*]",
    deployment_id="x",
)
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


STRAY, PLACE = "hdfs://lake/away/t", "hdfs://lake/db/t"
HERE, PART = Holder("db", "t"), Holder("db", "t", "dt=1")


@pytest.mark.parametrize(
    ("who", "where", "reason"),
    [
        (HERE, STRAY, None),
        # A table's own partitions move with it.
        (PART, f"{STRAY}/dt=1", None),
        (Holder("other", "x"), f"{STRAY}/dt=1", "other.x has its data there, too"),
        (Holder("other", "x"), "hdfs://old:8020/away/t", "other.x has its data there, too"),
        (Holder("other", "x", "a=1"), PLACE, "its new place is taken: other.x/a=1"),
        (Holder("other", "x"), f"{PLACE}/deep", "its new place is taken: other.x"),
        (PART, f"{PLACE}/dt=1", "its new place is taken: db.t/dt=1"),
        (Holder("other", "x"), "hdfs://lake/db", "its new place is in that of other.x"),
        (Holder("db"), "hdfs://lake/db", None),
        (Holder("other", "x"), "hdfs://lake/db/t2", None),
    ],
)
def test_a_move_is_refused_where_somebody_else_is_in_its_way_by_now(
    who: Holder, where: str, reason: str | None
) -> None:
    for is_undo in (False, True):
        moves = Moves([_item(STRAY, PLACE)], CONFIG, is_undo=is_undo)
        for neighbours in moves.neighbours:
            neighbours.see(who, where)
        said = moves.neighbour(HERE, read(STRAY))
        if is_undo and reason and "is in that of" in reason:
            assert said is None, "an undo goes back to where it was"
        else:
            assert (said or "").startswith(reason or ""), said
            assert (said is None) == (reason is None), said


def test_a_partition_may_go_below_its_own_table() -> None:
    item = dataclasses.replace(_item("hdfs://lake/x/1", f"{PLACE}/dt=1"), partition="dt=1")
    moves = Moves([item], CONFIG, is_undo=False)
    for neighbours in moves.neighbours:
        neighbours.see(HERE, PLACE)
        neighbours.see(PART, "hdfs://lake/x/1")
    assert moves.neighbour(PART, read("hdfs://lake/x/1")) is None
    assert moves.neighbour(Holder("db", "t", "dt=2"), read("hdfs://lake/x/1"))


def _item(source: str, target: str) -> MoveItem:
    return MoveItem("db", "t", "", source, target, 1, 1, 1, 1, 1)
