"""A source that cannot be captured says why, by code; wide and long ones can."""

import threading
import time

import pytest

from pipelines.cdc.capture.connectors.source import Source, probe
from pipelines.cdc.capture.domain.config import Limits
from pipelines.cdc.capture.domain.findings import Level
from portal.lake.errors import ExternalFailure, PortalError
from tests.support.capture_process import CaptureProcess
from tests.support.captured import Shop, changes, folded, ordered


def code_of(shop: Shop) -> str:
    with pytest.raises(PortalError) as caught:
        shop.capture()
    return caught.value.code


def test_a_row_without_all_its_columns_ends_the_capture(shop: Shop) -> None:
    shop.run("create table t (id int primary key, a int, b int)", "insert into t values (1, 1, 1)")
    shop.capture()
    shop.run("set session binlog_row_image = 'MINIMAL'", "update t set a = 2")
    assert code_of(shop) == "cdc.row_image"
    shop.capture(shop.config(excluded=(f"{shop.db}.t",)))


def test_a_statement_instead_of_rows_ends_the_capture(shop: Shop) -> None:
    shop.run(
        "create table t (id int primary key, a int)",
        "create table left_out (id int primary key, a int)",
        "insert into t values (1, 1)",
    )
    config = shop.config(excluded=("*.left_out",))
    shop.capture(config)
    shop.run("set session binlog_format = 'STATEMENT'", "insert into left_out values (1, 1)")
    shop.capture(config)
    shop.run("update t set a = a + 1 /* insert into left_out */")
    with pytest.raises(PortalError) as caught:
        shop.capture(config)
    assert caught.value.code == "cdc.statement"
    assert "update t" in caught.value.message


def test_a_transaction_of_two_phases_ends_the_capture(shop: Shop) -> None:
    shop.run("create table t (id int primary key)")
    shop.capture()
    shop.run(
        f"xa start '{shop.db}'",
        "insert into t values (1)",
        f"xa end '{shop.db}'",
        f"xa prepare '{shop.db}'",
        f"xa commit '{shop.db}'",
    )
    assert code_of(shop) == "cdc.xa"


def test_compressed_rows_end_the_capture(shop: Shop) -> None:
    shop.run("create table t (id int primary key, a text)")
    shop.capture()
    shop.run("set global log_bin_compress = 1", "set global log_bin_compress_min_len = 10")
    try:
        link = shop.server.admin(shop.db)
        link.cursor().execute("insert into t values (1, repeat('a', 5000))")
        link.close()
    finally:
        shop.run("set global log_bin_compress = 0")
    assert code_of(shop) == "cdc.compressed"


def test_a_log_that_was_removed_is_told_and_a_new_epoch_loads_again(shop: Shop) -> None:
    shop.run("create table t (id int primary key)", "insert into t values (1)")
    shop.capture()
    shop.run("insert into t values (2)", "flush binary logs", "delete from t where id = 1")
    here = shop.position().file
    while shop.rows("show binary logs")[0][0] != here:
        shop.run(f"purge binary logs to '{here}'")  # once no connection reads them any more
        time.sleep(0.1)
    assert code_of(shop) == "cdc.purged"
    log = shop.capture(shop.config(epoch=1))
    assert [one.key["id"] for one in changes(log, "t")] == ["1", "2"]
    with pytest.raises(PortalError) as caught:
        shop.capture(shop.config(epoch=0))
    assert caught.value.code == "cdc.epoch"


def test_a_server_id_of_another_ends_one_of_the_two(shop: Shop) -> None:
    shop.run("create table t (id int primary key)", "insert into t values (1)")
    first = CaptureProcess(shop.config(), shop.root / "first")
    while shop.log("first").end() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    found = {one.code: one for one in probe(shop.config())}
    assert found["server_id"].level is Level.ERROR
    shop.capture(name="second")
    shop.run("insert into t values (2)")
    assert first.ended() == (1, "cdc.server_id")


def test_a_password_changed_in_the_middle_is_told(shop: Shop) -> None:
    user = f"u{shop.server_id}"
    shop.run(
        "create table t (id int primary key)",
        f"create user {user}@'%' identified by 'old'",
        f"grant replication slave, binlog monitor, select on *.* to {user}@'%'",
    )
    config = shop.config(user=user, password="old")
    shop.capture(config)
    shop.run(f"alter user {user}@'%' identified by 'new'", "insert into t values (1)")
    with pytest.raises(ExternalFailure) as caught:
        shop.capture(config)
    assert caught.value.code == "cdc.access"
    assert not caught.value.retryable
    assert "old" not in caught.value.message
    log = shop.capture(shop.config(user=user, password="new"))
    assert [one.key["id"] for one in changes(log, "t")] == ["1"]
    shop.run(f"drop user {user}@'%'")


def test_a_server_that_is_not_there_may_be_tried_again(shop: Shop) -> None:
    with pytest.raises(ExternalFailure) as caught:
        Source(shop.config(port=1))
    assert (caught.value.code, caught.value.retryable) == ("cdc.unreachable", True)
    assert probe(shop.config(port=1))[0].level is Level.ERROR


def test_a_question_after_an_idle_day_opens_its_connection_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.run("create table t (id int primary key)")
    source = Source(shop.config())
    (number,) = source._ask("select connection_id()")[0]
    shop.run(f"kill {number}")
    monkeypatch.setattr("pipelines.cdc.capture.connectors.source.IDLE_SECONDS", -1.0)
    assert source.table(shop.db, "t").schema is not None
    source.close()


def test_the_probe_says_what_is_missing(shop: Shop) -> None:
    user = f"p{shop.server_id}"
    shop.run(
        "create table good (id int primary key)",
        "create table no_key (id int)",
        "create table packed (id int primary key, a text compressed)",
        "create table aged (id int primary key) with system versioning",
        "create view v as select * from good",
        f"create user {user}@'%' identified by 'p'",
        f"grant insert on good to {user}@'%'",
        "set global binlog_row_image = 'MINIMAL'",
        "set global binlog_format = 'MIXED'",
        "set global binlog_row_metadata = 'NO_LOG'",
        "set global binlog_expire_logs_seconds = 3600",
    )
    try:
        found = {one.code: one for one in probe(shop.config())}
        poor = {one.code: one for one in probe(shop.config(user=user, password="p"))}
    finally:
        shop.run(
            "set global binlog_row_image = 'FULL'",
            "set global binlog_format = 'ROW'",
            "set global binlog_row_metadata = 'FULL'",
            "set global binlog_expire_logs_seconds = 0",
            f"drop user {user}@'%'",
        )
    errors = {code for code, one in found.items() if one.level is Level.ERROR}
    assert errors == {
        *("binlog_format", "binlog_row_image", f"table:{shop.db}.no_key"),
        *(f"table:{shop.db}.packed", f"table:{shop.db}.aged"),
    }
    assert {code for code, one in found.items() if one.level is Level.WARNING} == {
        "binlog_row_metadata",
        "retention",
    }
    assert found["tables"].message == "1 of 4 matching tables can be captured."
    assert "REPLICATION SLAVE, BINLOG MONITOR" in poor["privileges"].remedy
    assert "GRANT SELECT ON" in poor[f"table:{shop.db}.good"].message
    good = {one.code: one.level for one in probe(shop.config(f"{shop.db}.good"))}
    assert set(good.values()) == {Level.OK}


def test_wide_tables_and_long_rows_are_captured(shop: Shop) -> None:
    wide = ", ".join(f"c{n} int default {n}" for n in range(1_000))
    shop.run(
        f"create table wide (id int primary key, {wide})",
        "create table `long` (id int primary key, a longtext) charset latin1",
        "insert into wide (id) values (1), (2)",
        "insert into `long` values (1, repeat('x', 16777216)), (2, repeat('y', 16777216))",
    )
    shop.capture()
    shop.run("insert into wide (id) values (3)", "update `long` set id = 3 where id = 2")
    log = shop.capture()
    assert len(folded(changes(log, "wide"))) == 3
    assert folded(changes(log, "wide"))[2]["c999"] == "999"
    sizes = {row["id"]: len(row["a"] or "") for row in folded(changes(log, "long"))}
    assert sizes == {"1": 1 << 24, "3": 1 << 24}
    assert max(len(batch.changes) for batch in log.read(0)) <= 7_000


def test_a_transaction_of_many_rows_spans_batches(shop: Shop) -> None:
    shop.run("create table t (id int primary key, a varchar(20))")
    limits = Limits(rows=2_000, seconds=0.1, heartbeat_seconds=0.2, read_seconds=20)
    shop.capture(shop.config(limits=limits))
    shop.run("insert into t select seq, concat('row ', seq) from seq_1_to_30000")
    log = shop.capture(shop.config(limits=limits))
    sizes = [batch.header.n_changes for batch in log.read(0)]
    assert max(sizes) < 2_500
    ends = [batch.header.end for batch in log.read(0) if batch.header.n_changes]
    assert len(set(ends[:-1])) == 1, "reading resumes at the beginning of the transaction"
    assert ordered(folded(changes(log, "t"))) == ordered(shop.table("t"))


def test_rows_without_names_are_read_while_the_table_is_as_the_server_says(shop: Shop) -> None:
    shop.run("create table t (id int primary key, a varchar(9))")
    shop.capture()
    shop.run("set global binlog_row_metadata = 'NO_LOG'")
    try:
        shop.run("insert into t values (1, 'é')", "alter table t add b int")
        shop.run("insert into t values (2, 'y', 2)")
        log = shop.capture()
        assert [row["id"] for row in folded(changes(log, "t"))] == ["1", "2"]
        shop.run("alter table t add c int", "insert into t values (3, 'z', 3, 3)")
        shop.run("alter table t drop c, drop b")
        assert code_of(shop) == "cdc.metadata"
    finally:
        shop.run("set global binlog_row_metadata = 'FULL'")


def test_keys_of_every_kind_are_read_in_chunks(shop: Shop) -> None:
    kinds = {
        "varchar(9) collate utf8mb4_general_ci": "concat(char(65 + seq % 26), seq)",
        "varchar(9) character set latin1": "concat('ä', seq)",
        "decimal(30,10)": "seq / 3 + 100000000000000000",
        "float": "seq / 10",
        "double": "seq / 7",
        "binary(8)": "unhex(lpad(hex(seq * 37), 16, '0'))",
        "bit(20)": "seq",
        "datetime(3)": "'2024-01-01' + interval seq * 1001 microsecond * 1000",
        "date": "'2024-01-01' + interval seq day",
        "time(3)": "sec_to_time(seq * 7.125 - 1000)",
        "bigint unsigned": "18446744073709551615 - seq",
        "uuid": "concat('123e4567-e89b-12d3-a456-', lpad(hex(seq * 7919), 12, '0'))",
    }
    kinds["datetime(3)"] = "'2024-01-01' + interval seq * 1001000 microsecond"
    limits = Limits(chunk_rows=37, seconds=0.1, heartbeat_seconds=0.2, read_seconds=20)
    shop.run(
        "create table mixed (`a%` enum('z','m','a'), b set('q','p'), c int,"
        " primary key (`a%`, b, c))"
    )
    shop.run("insert into mixed select 1 + seq % 3, seq % 4, seq from seq_1_to_300")
    for n, (kind, value) in enumerate(kinds.items()):
        shop.run(f"create table t{n} (k {kind} primary key)")
        shop.run(f"insert into t{n} select {value} from seq_1_to_200")
    log = shop.capture(shop.config(limits=limits))
    tables = [*(f"t{n}" for n in range(len(kinds))), "mixed"]
    for table in tables:
        (count,) = shop.rows(f"select count(*) from `{table}`")[0]
        found = changes(log, table)
        assert (len(found), len(folded(found))) == (count, count), table


def test_a_table_changed_under_a_load_is_loaded_with_its_new_columns(shop: Shop) -> None:
    shop.run("create table t (id int primary key, a int)")
    shop.run("insert into t select seq, seq from seq_1_to_4000")
    limits = Limits(chunk_rows=100, rows=100, seconds=0.1, heartbeat_seconds=0.2, read_seconds=20)

    def alter() -> None:
        time.sleep(0.3)
        link = shop.server.admin(shop.db)
        link.cursor().execute("alter table t modify a varchar(20), add b int default 5")
        link.cursor().execute("update t set b = 6 where id % 100 = 0")
        link.close()

    thread = threading.Thread(target=alter)
    thread.start()
    log = shop.capture(shop.config(limits=limits), until=lambda: not thread.is_alive())
    thread.join()
    shop.capture(shop.config(limits=limits))
    rows = {row["id"]: row for row in folded(changes(log, "t"))}
    assert rows.keys() == {str(n) for n in range(1, 4001)}
    assert {rows[str(n)]["b"] for n in range(100, 4001, 100)} == {"6"}
