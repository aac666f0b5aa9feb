"""DDL of every kind in the middle of rows: each row has the columns of its own moment."""

from itertools import pairwise

from tests.support.captured import Shop, changes, folded, ordered, schemas


def by_id(shop: Shop, *, table: str = "t") -> dict[str | None, int]:
    return {one.key["id"]: one.schema for one in changes(shop.log(), table)}


def test_rows_before_an_alter_have_the_old_columns_however_late_they_are_read(shop: Shop) -> None:
    shop.run("create table t (id int primary key, a int, b varchar(5))")
    shop.capture()
    shop.run(
        "insert into t values (1, 1, 'x')",
        "alter table t add c decimal(9,2) default 1.5 after id",
        "insert into t values (2, 2.25, 2, 'y')",
        "alter table t drop b, modify a bigint unsigned, comment 'no rows in between'",
        "alter table t add column `od d.\"` enum('p', 'q') character set latin1",
        "insert into t values (3, 3, 18446744073709551615, 'q')",
        "/* alter table t drop a */ insert into t values (4, null, -1 + 1, null)",
        "alter table t comment 'nothing of its columns'",
        "insert into t values (5, 5, 5, 'p')",
        "/*!40101 alter table t add hidden int invisible default 9 */",
    )
    log = shop.capture()
    found = schemas(log, "t")
    assert [one.names for one in found] == [
        ("id", "a", "b"),
        ("id", "c", "a", "b"),
        ("id", "c", "a", 'od d."'),
        ("id", "c", "a", 'od d."', "hidden"),
    ]
    assert by_id(shop) == {"1": 1, "2": 2, "3": 3, "4": 3, "5": 3}
    types = {column.name: column.type for column in found[2].columns}
    assert types == {
        "id": "int(11)",
        "c": "decimal(9,2)",
        "a": "bigint(20) unsigned",
        'od d."': "enum('p','q')",
    }
    assert "drop b" in found[2].ddl
    assert "add column" in found[2].ddl
    assert "/*!40101" in found[3].ddl
    assert "drop b" not in found[3].ddl
    assert found[3].columns[-1].is_invisible
    assert all(one.version > before.version for before, one in pairwise(found))
    rows = {row["id"]: row for row in folded(changes(log, "t"))}
    assert rows["1"] == {"id": "1", "a": "1", "b": "x"}
    assert rows["3"] == {"id": "3", "c": "3.00", "a": "18446744073709551615", 'od d."': "q"}


def test_reading_the_log_again_gives_rows_and_schemas_the_same_numbers(shop: Shop) -> None:
    shop.run("create table t (id int primary key, a int)")
    log = shop.capture()
    number, header = log.end() or (0, None)
    shop.run(
        "insert into t values (1, 1)",
        "alter table t add b int",
        "insert into t values (2, 2, 2)",
        "truncate t",
        "insert into t values (3, 3, 3)",
    )
    shop.capture()
    shop.run("alter table t alter b set default 7", "insert into t values (4, 4, 4)")
    shop.capture()
    first = {one.key["id"]: one for one in changes(log, "t")}
    names = schemas(log, "t")
    assert header is not None
    for path in (shop.root / "log" / "batches").glob("*.jsonl"):
        if int(path.name.removesuffix(".jsonl")) > number:
            path.unlink()
    shop.capture()
    assert {one.key["id"]: one for one in changes(log, "t")} == first
    assert schemas(log, "t") == names
    assert [one.ddl for one in names] == [
        "",
        "alter table t add b int",
        "truncate t",
        "alter table t alter b set default 7",
    ]
    assert names[-1].columns[-1].default == "7"


def test_a_table_made_later_is_captured_and_one_made_again_is_another(shop: Shop) -> None:
    shop.run("create table other (id int primary key)")
    shop.capture()
    shop.run(
        "create table t (id int primary key, a int)",
        "insert into t values (1, 1), (2, 2)",
        "drop table t",
        "create table t (id int primary key, a varchar(9)) default charset latin1",
        "insert into t values (1, 'é')",
        "create table made_of_rows as select id + 10 as id, a from t",
        "create table t2 (primary key (id)) as select * from t",
        "create temporary table passing (id int primary key)",
        "insert into passing values (1)",
        "create table empty_one like t",
    )
    log = shop.capture()
    found = schemas(log, "t")
    assert [one.columns[1].type for one in found] == ["int", "int", "varchar(9)"]
    assert [one.ddl.split(" (")[0].lower().split("/*")[0].strip() for one in found] == [
        "create table t",
        "drop table `t`",
        "create table t",
    ]
    assert [one.schema for one in changes(log, "t")] == [1, 1, 3]
    assert changes(log, "t")[-1].after == {"id": "1", "a": "é"}
    assert folded(changes(log, "t2")) == [{"id": "1", "a": "é"}]
    assert len(schemas(log, "empty_one")) == 1
    assert changes(log, "passing") == []
    assert changes(log, "made_of_rows") == []
    refused = dict(shop.reports[-1].refused)
    assert "primary key" in refused[f"{shop.db}.made_of_rows"]


def test_gh_ost_swaps_a_table_by_renames_and_rows_go_on(shop: Shop) -> None:
    shop.run("create table t (id int primary key, a int)", "insert into t values (1, 1), (2, 2)")
    shop.capture()
    shop.run(
        "create table _t_gho like t",
        "alter table _t_gho add b int default 7",
        "insert into _t_gho (id, a) select * from t",
        "insert into t values (3, 3)",
        "replace into _t_gho (id, a) values (3, 3)",
        "rename table t to _t_del, _t_gho to t",
        "insert into t values (4, 4, 4)",
        "drop table _t_del",
    )
    log = shop.capture()
    assert {one.table for one in log.schemas()} == {"t"}
    assert [one.names for one in schemas(log, "t")] == [("id", "a"), ("id", "a", "b")]
    assert "rename table" in schemas(log, "t")[1].ddl
    assert by_id(shop) == {"1": 1, "2": 1, "3": 1, "4": 2}


def test_a_table_renamed_into_the_patterns_is_loaded(shop: Shop) -> None:
    shop.run("create table x (id int primary key)", "insert into x values (1), (2)")
    config = shop.config(f"{shop.db}.t*")
    shop.run("create table t0 (id int primary key)")
    shop.capture(config)
    shop.run("alter table x rename to t1", "insert into t1 values (3)")
    shop.capture(config)
    shop.capture(config, until=lambda: len(folded(changes(shop.log(), "t1"))) == 3)
    log = shop.log()
    assert ordered(folded(changes(log, "t1"))) == [{"id": "1"}, {"id": "2"}, {"id": "3"}]
    assert {one.op for one in changes(log, "t1")} >= {"r"}
    shop.run("rename table t1 to gone")
    shop.capture(config)
    assert schemas(log, "t1")[-1].ddl == "rename table t1 to gone"


def test_rows_that_go_without_row_events_are_told_by_a_schema(shop: Shop) -> None:
    shop.run(
        "create table t (id int primary key) partition by range (id)"
        " (partition p0 values less than (10), partition p1 values less than maxvalue)",
        "insert into t values (1), (11)",
    )
    shop.capture()
    shop.run(
        "truncate table t",
        "alter table t drop partition p0",
        "drop table t",
        "create database `other of this`",
        "create table `other of this`.t (id int primary key)",
    )
    config = shop.config(f"{shop.db}.*", "other of this.*")
    shop.capture(config)
    shop.run("drop database `other of this`")
    log = shop.capture(config)
    assert [one.ddl.split("/*")[0].strip() for one in log.schemas() if one.db == shop.db] == [
        "",
        "truncate table t",
        "alter table t drop partition p0",
        "DROP TABLE `t`",
    ]
    assert [one.ddl for one in log.schemas() if one.db != shop.db][-1].startswith("drop database")
    assert len(changes(log, "t")) == 2


def test_a_table_asked_for_again_is_loaded_once_more(shop: Shop) -> None:
    shop.run("create table t (id int primary key)", "insert into t values (1), (2)")
    shop.capture()
    again = shop.config(reloads=((f"{shop.db}.t", 1),))
    shop.capture(again)
    log = shop.capture(again)
    assert [one.key["id"] for one in changes(log, "t")] == ["1", "2", "1", "2"]
    shop.run("insert into t values (3)")
    shop.capture(shop.config(epoch=1))
    reads = changes(log, "t")[4:]
    assert [(one.op, one.key["id"]) for one in reads] == [("r", "1"), ("r", "2"), ("r", "3")]
    assert min(one.version for one in reads) >= 1 << 53
