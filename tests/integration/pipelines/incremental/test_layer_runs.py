"""One layer: functions, backfills, versions, columns that change, and what is refused."""

import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from pipelines.incremental.domain.definitions import Layer, Source
from portal.connectors.metastore import Metastore
from portal.lake.names import TableName
from portal.safety.failpoints import Failpoints
from tests.support.hudi_services import submitted
from tests.support.iceberg_lake import IcebergLake
from tests.support.layered_tables import LayeredLake

pytestmark = pytest.mark.spark
ROWS = [(1, "d0", "a", 1, None), (2, "d0", "b", 2, None), (3, "d1", "a", 3, None)]
NONE = Failpoints()
_PATIENCE_SECONDS = 240.0


def plain(layered: LayeredLake, **more: object) -> Layer:
    return layered.layer("plain", ["rows"], "SELECT id, dt, qty FROM rows ", **more)


def by_function(layered: LayeredLake, name: str) -> Layer:
    return Layer(
        target=f"{layered.db}.made",
        sources=(Source(f"{layered.db}.rows"),),
        key=("id",),
        function=f"tests.support.layer_functions:{name}",
    )


def test_a_function_makes_the_rows_and_one_that_is_not_by_rows_is_refused(
    layered: LayeredLake,
) -> None:
    layered.source.write(ROWS)
    layer = by_function(layered, "doubled")
    (first,) = layered.advance(layer)
    assert first.state == "done", first
    layered.source.delete([1])
    layered.source.write([(2, "d0", "b", None, None), (9, "d0", "b", 9, None)])
    (second,) = layered.advance(layer)
    assert (second.mode, second.n_upserts, second.n_deletes) == ("changes", 1, 2), second
    assert layered.rows(layer) == [("d0", 9, 18), ("d1", 3, 6)]
    for name, said in (
        ("counted", "Aggregate looks at several rows together"),
        ("numbered", "something else at each call"),
        ("elsewhere", "does not use the rows"),
        ("nothing", "returned no DataFrame"),
        ("broken", "raised KeyError: 'rates'"),
        ("F", "raised TypeError"),
        ("gone", "cannot be imported"),
    ):
        (refused,) = layered.advance(by_function(layered, name), full="again")
        assert (refused.state, refused.code) == ("failed", "layer.function"), refused
        assert said in refused.reason
    other = msgspec.structs.replace(layer, function="os:listdir")
    (refused,) = layered.advance(other, full="again")
    assert refused.code == "layer.definition"
    assert layered.rows(layer) == [("d0", 9, 18), ("d1", 3, 6)], "nothing of it was written"


def test_a_backfill_makes_some_partitions_right_and_moves_no_position(
    layered: LayeredLake,
) -> None:
    layered.source.write(ROWS)
    layer = plain(layered, partition="dt")
    layered.advance(layer)
    run = layered.run_of(layer, NONE)
    rows = run.target.read()
    wrong = rows.selectExpr("id", "qty + 100 AS qty", "dt")
    said = run.target.written()
    assert said is not None
    run.target.write(wrong, said.positions)
    layered.source.write([(4, "d0", "a", 4, None), (3, "d0", "a", 3, None)])
    found = layered.backfill(layer, "d0", "d0")
    assert (found.state, found.mode) == ("done", "backfill"), found
    assert layered.rows(layer) == [("d0", 1, 1), ("d0", 2, 2), ("d0", 3, 3), ("d0", 4, 4)]
    after = layered.run_of(layer, NONE).target.written()
    assert after is not None
    assert after.positions == said.positions
    layered.advance(layer)
    layered.assert_rebuilt(layer)


def test_partitions_of_a_backfill_are_compared_as_their_type_does(layered: LayeredLake) -> None:
    layered.source.write(ROWS)
    layer = plain(layered, partition="qty")
    layered.advance(layer)
    run = layered.run_of(layer, NONE)
    said = run.target.written()
    assert said is not None
    run.target.write(run.target.read().selectExpr("id", "qty", "'wrong' AS dt"), said.positions)
    assert layered.backfill(layer, "1", "10").state == "done"
    layered.assert_rebuilt(layer)
    assert layered.backfill(layer, "x", "y").code == "layer.range"


def test_of_rows_with_one_key_that_with_the_greatest_version_stays(layered: LayeredLake) -> None:
    layered.source.write(ROWS)
    layer = layered.layer(
        "newest", ["rows"], "SELECT city, id AS number, qty FROM rows ",
        key=("city",), version="number",
    )  # fmt: skip
    (first,) = layered.advance(layer)
    assert first.state == "done", first
    assert layered.rows(layer) == [("a", 3, 3), ("b", 2, 2)]
    layered.source.write([(0, "d0", "a", 7, None), (8, "d0", "c", 8, None)])
    (second,) = layered.advance(layer)
    assert (second.n_upserts, second.n_deletes) == (1, 0), "an older row changes nothing"
    layered.source.delete([3, 8])
    (third,) = layered.advance(layer)
    assert (third.n_upserts, third.n_deletes) == (1, 1), third
    assert layered.rows(layer) == [("a", 1, 1), ("b", 2, 2)], "the one before stays"


def test_changed_columns_hold_the_layer_and_new_ones_come_once_they_were_seen(
    layered: LayeredLake,
) -> None:
    layered.source.write(ROWS)
    layer = layered.layer("all", ["rows"], "SELECT * FROM rows ", partition="dt")
    layered.advance(layer)
    rows = layered.spark.createDataFrame(
        [(5, "d0", "a", 5, None, 9, "new")],
        "id BIGINT, dt STRING, city STRING, qty INT, price DECIMAL(12,2), ts BIGINT, word STRING",
    )
    layered.source.write_frame(rows)
    (held,) = layered.advance(layer)
    assert (held.state, held.code) == ("held", "layer.schema"), held
    assert "new: word string" in held.reason
    layered.seen(layer, held)
    (done,) = layered.advance(layer)
    assert (done.state, done.n_upserts) == ("done", 1), done
    assert {one["word"] for one in layered.records(layer)} == {None, "new"}
    (again,) = layered.advance(layer, full="The columns changed.")
    assert (again.state, again.mode) == ("done", "full")
    with Metastore.connect(layered.config) as metastore:
        struct = metastore.table(TableName.parse(layered.config.lake, layer.target))
    assert "word" in {one.name for one in struct.sd.cols}
    assert [one.name for one in struct.partitionKeys] == ["dt"]


def test_an_iceberg_table_is_followed(layered: LayeredLake, iceberg_lake: IcebergLake) -> None:
    table = f"{iceberg_lake.db}.{iceberg_lake.table().name}"
    layer = Layer(
        target=f"{layered.db}.words",
        sources=(Source(table),),
        key=("id",),
        sql=f"SELECT id, dt, upper(word) AS word FROM {table} WHERE id > 1",
        partition="dt",
    )
    sql = layered.spark.sql
    (empty,) = layered.advance(layer)
    assert (empty.state, empty.reason) == ("unchanged", "The source has no commit yet."), empty
    sql(f"INSERT INTO lake.{table} VALUES (1, 'd0', 'a'), (2, 'd0', 'b'), (3, 'd1', 'c')")
    (first,) = layered.advance(layer)
    assert (first.state, first.mode, first.n_upserts) == ("done", "full", 2), first
    sql(f"UPDATE lake.{table} SET word = 'x', dt = 'd2' WHERE id = 3")
    sql(f"DELETE FROM lake.{table} WHERE id = 2")
    sql(f"INSERT INTO lake.{table} VALUES (4, 'd0', 'y')")
    (second,) = layered.advance(layer)
    assert (second.mode, second.n_upserts, second.n_deletes) == ("changes", 2, 1), second
    assert second.edges[0].position_at is not None
    assert layered.rows(layer) == [("d0", 4, "Y"), ("d2", 3, "X")]


def test_keys_that_are_of_several_rows_or_of_none_are_refused(layered: LayeredLake) -> None:
    layered.source.write([*ROWS, (4, "d0", None, 4, None)])
    for key, code in (("qty", "layer.key"), ("city", "layer.key")):
        (found,) = layered.advance(
            layered.layer("bad", ["rows"], "SELECT city, qty FROM rows ", key=(key,))
        )
        assert found.code == code, found
    text = "SELECT city, id FROM (SELECT city, id FROM rows ) x"
    for sql, code in (
        (text, "layer.key_null"),
        (f"{text} WHERE city IS NOT NULL", "layer.key_not_unique"),
        ("SELECT id FROM (SELECT id, city FROM rows ) x", "layer.column"),
    ):
        (found,) = layered.advance(layered.layer("bad", ["rows"], sql, key=("city",)))
        assert (found.state, found.code) == ("failed", code), found


def test_two_rows_that_got_one_key_are_refused_whenever_they_come(
    layered: LayeredLake,
) -> None:
    layered.source.write(ROWS)
    layer = layered.layer("bad", ["rows"], "SELECT qty, id FROM (SELECT qty, id FROM rows ) x",
                          key=("qty",))  # fmt: skip
    (first,) = layered.advance(layer)
    assert first.state == "done", first
    layered.source.write([(9, "d2", "a", 1, None)])  # in a file of its own
    (second,) = layered.advance(layer)
    assert (second.state, second.code) == ("failed", "layer.key_not_unique"), second
    assert sorted(one["id"] for one in layered.records(layer)) == [1, 2, 3]
    layered.source.delete([1])
    (third,) = layered.advance(layer)
    assert third.state == "done", third
    layered.assert_rebuilt(layer)


def test_a_target_that_somebody_else_writes_is_refused_until_all_rows_are_read(
    layered: LayeredLake,
) -> None:
    layered.source.write(ROWS)
    layer = plain(layered)
    layered.advance(layer)
    layered.write_as_somebody_else(layer, "id", "dt", "-1 AS qty")
    (refused,) = layered.advance(layer)
    assert (refused.state, refused.code) == ("failed", "commits.foreign_write"), refused
    (again,) = layered.advance(layer, full="Somebody else wrote to it.")
    assert again.state == "done", again
    layered.assert_rebuilt(layer)


def test_the_event_time_is_the_greatest_of_all_that_was_read(layered: LayeredLake) -> None:
    layered.source.write(ROWS)
    layer = layered.layer("timed", ["rows"], "SELECT id, ts FROM rows ", event_time="ts")
    (first,) = layered.advance(layer)
    assert first.edges[0].event_time == datetime.fromtimestamp(1, UTC)
    layered.source.write([(7, "d0", "a", 1, None)])
    (second,) = layered.advance(layer)
    assert second.edges[0].event_time == datetime.fromtimestamp(2, UTC)
    assert second.edges[0].position_at is not None
    (third,) = layered.advance(layer)
    assert (third.state, third.edges[0].event_time) == ("unchanged", second.edges[0].event_time)
    assert third.edges[0].read_at is not None
    layered.source.write([(8, "d0", "a", 1, None)])
    layered.source.begin_before_the_last()
    (fourth,) = layered.advance(layer)
    assert (fourth.state, fourth.edges[0].read_at) == ("unchanged", None), fourth


@pytest.mark.parametrize(
    "failpoint",
    ["delete:after", *(pytest.param(one, marks=pytest.mark.long) for one in
                       ("delete:before", "upsert:before", "upsert:after"))],
)  # fmt: skip
def test_a_driver_that_is_killed_leaves_nothing_undone(
    layered: LayeredLake, tmp_path: Path, failpoint: str
) -> None:
    layered.source.write(ROWS)
    layer = plain(layered, partition="dt")
    layered.advance(layer)
    layered.source.delete([1])
    layered.source.write([(2, "d1", "b", 20, None), (9, "d0", "b", 9, None)])
    job, log = layered.job([layer]), tmp_path / "log"
    launched = submitted(
        job,
        "pipelines.incremental.jobs.advance",
        config=layered.config,
        log_file=log,
        environment={"LW_FAILPOINT": f"{failpoint}:kill", "LW_FAILPOINTS_ENABLED": "1"},
    )
    ends = time.monotonic() + _PATIENCE_SECONDS
    while not _is_over(launched.pid):
        assert time.monotonic() < ends, log.read_text()[-5000:]
        time.sleep(0.05)
    assert job.spool.read_manifest() is None, job.spool.read_manifest()
    (done,) = layered.advance(layer)
    assert done.state in ("done", "unchanged"), done
    layered.assert_rebuilt(layer)


def _is_over(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
