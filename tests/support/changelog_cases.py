"""What every changelog must do, as cases that tests run against each: files, HDFS, Kafka."""

from collections.abc import Callable

import pytest

from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.changes.domain.records import Change, Header, Row
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from portal.lake.errors import StaleState

Open = Callable[[], Changelog]


def header(n_changes: int = 0, *, fence: int = 1, end: str = "0:mysql-bin.000001:4") -> Header:
    return Header("shop", fence, "0:mysql-bin.000001:4", end, 1, n_changes, {"shop.t": '{"n":1}'})


def change(version: int, key: str = "1", table: str = "t") -> Change:
    row: Row = {"id": key, "name": "\r\u2028\x85 'ü'\n"}
    return Change("shop", table, "c", version, {"id": key}, 1, "0:b.1:9", 1, after=row)


def schema(number: int, *, table: str = "t", db: str = "shop", ddl: str = "") -> TableSchema:
    return TableSchema(db, table, number, number * 10, (Column("id", "int(11)"),), ("id",), ddl)


def what_was_appended_is_read_in_order(open_log: Open) -> None:
    log = open_log()
    assert log.end() is None
    assert list(log.read(0)) == []
    written = {1: [change(1), change(2)], 2: [], 3: [change(3, key="9")]}
    for number, changes in written.items():
        log.append(number, header(len(changes)), changes)
    read = list(open_log().read(0))
    assert {batch.number: list(batch.changes) for batch in read} == written
    assert [batch.header for batch in read] == [header(2), header(0), header(1)]
    assert [batch.number for batch in log.read(2)] == [3]
    assert list(log.read(3)) == []
    assert open_log().end() == (3, header(1))


def a_number_is_written_once(open_log: Open) -> None:
    first, second = open_log(), open_log()
    first.append(1, header(), [])
    second.append(2, header(fence=2), [])
    with pytest.raises(StaleState) as lost:
        first.append(2, header(1), [change(1)])
    assert lost.value.code == "cdc.fenced"
    second.append(3, header(fence=2), [])
    assert [batch.header.fence for batch in open_log().read(0)] == [1, 2, 2]


def trimming_leaves_the_last(open_log: Open) -> None:
    log = open_log()
    for number in range(1, 6):
        log.append(number, header(), [])
    assert log.trim(4) == 3
    assert [batch.number for batch in log.read(3)] == [4, 5]
    with pytest.raises(StaleState) as late:
        list(log.read(1))
    assert late.value.code == "cdc.trimmed"
    log.trim(99)
    assert log.end() == (5, header())
    log.append(6, header(), [])
    assert [batch.number for batch in log.read(4)] == [5, 6]


def schemas_lie_beside(open_log: Open) -> None:
    log = open_log()
    long = "表" * 64
    names = [("shop", "t"), ("a.b", "c"), ("a", "b.c"), ("x/y", "../z"), (long, long), ("s", "T")]
    wanted = [schema(1, db=db, table=table) for db, table in names]
    wanted += [schema(number) for number in range(2, 12)]
    for one in wanted:
        log.schema_put(one)
        log.schema_put(one)
    with pytest.raises(StaleState) as lost:
        log.schema_put(schema(3, ddl="alter table t add x int"))
    assert lost.value.code == "cdc.fenced"
    order = sorted(wanted, key=lambda one: (one.db, one.table, one.number))
    assert open_log().schemas() == order


CASES = (
    what_was_appended_is_read_in_order,
    a_number_is_written_once,
    trimming_leaves_the_last,
    schemas_lie_beside,
)
