"""Patterns, numbers of schemas, ends of transactions, and the watchdog."""

import pytest

from pipelines.cdc.capture.domain.config import SourceConfig, TableFilter
from pipelines.cdc.capture.domain.loads import Load, planned, read, written
from pipelines.cdc.capture.domain.schema_book import SchemaBook
from pipelines.cdc.capture.domain.transactions import Transactions
from pipelines.cdc.capture.domain.watchdog import Watchdog
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.schemas import Column
from portal.lake.errors import RuleViolation

T = ("shop", "t")
ID = (Column("id", "int(11)"),)


def config(
    *tables: str, excluded: tuple[str, ...] = (), reloads: tuple[tuple[str, int], ...] = ()
) -> SourceConfig:
    return SourceConfig(
        name="s",
        host="h",
        port=1,
        user="u",
        password="secret",
        server_id=7,
        tables=tables,
        excluded=excluded,
        reloads=reloads,
    )


def test_patterns_choose_tables_and_never_the_servers_own() -> None:
    wants = TableFilter(config("shop.*", "log.day_?", excluded=("*.secret*",))).wants
    assert wants("shop", "orders")
    assert wants("log", "day_1")
    assert not wants("log", "day_10")
    assert not wants("Shop", "orders")
    assert not wants("shop", "secret_ones")
    assert not wants("shop", "_orders_gho")
    assert not wants("shop", "_orders_new")
    assert not TableFilter(config("*.*")).wants("mysql", "user")
    with pytest.raises(RuleViolation, match="names no table"):
        config("orders")
    with pytest.raises(RuleViolation, match="at least one"):
        config()


def test_a_password_is_never_shown() -> None:
    assert "secret" not in repr(config("a.b"))


def test_a_row_has_the_schema_of_its_version() -> None:
    book = SchemaBook()
    for version in (100, 200, 300):
        book.add(book.new(T, version, ID, ("id",), ""))
    at = {version: book.at(T, version) for version in (50, 100, 199, 200, 999)}
    assert [one and one.number for one in at.values()] == [1, 1, 1, 2, 3]
    assert book.begun_at(T, 200) == at[200]
    assert book.begun_at(T, 201) is None
    assert book.marked(T, 300, "truncate t") is None
    marked = book.marked(T, 301, "truncate t")
    assert marked is not None
    assert (marked.number, marked.columns) == (4, ID)
    assert book.marked(("shop", "unknown"), 1, "") is None


def test_loads_travel_in_headers_until_they_are_done() -> None:
    done, again, running = (
        Load("a", "x", is_done=True),
        Load("a", "y", is_done=True, request=2),
        Load("a.b", "c", rows=5, after=("1", "ü")),
    )
    kept = read(written((done, again, running)))
    assert kept == {again.name: again, running.name: running}
    assert planned(kept, [("n", "new")], config("a.*", reloads=(("a.y", 2),))) == {
        **kept,
        ("n", "new"): Load("n", "new"),
    }
    assert planned(kept, [], config("a.*", reloads=(("a.y", 3),)))["a", "y"] == Load(
        "a", "y", request=3
    )


def test_a_transaction_ends_where_reading_can_resume() -> None:
    gtid = bytes(13)
    follows = Transactions()
    follows.event(162, gtid)
    assert not follows.has_ended
    assert follows.query("BEGIN")
    follows.event(19, b"")
    assert follows.query("SAVEPOINT `a`")
    assert not follows.has_ended
    follows.event(16, b"")
    assert follows.has_ended
    follows.event(162, gtid)
    assert not follows.query("ALTER TABLE t ADD a int")
    assert follows.has_ended
    follows.event(162, gtid[:12] + b"\x40")
    with pytest.raises(RuleViolation, match="XA"):
        follows.rows()
    follows.event(38, b"")
    follows.event(162, gtid)
    follows.rows()


def test_the_watchdog_tells_a_quiet_source_from_a_dead_connection() -> None:
    now = [0.0]
    dog = Watchdog(60, now=lambda: now[0])
    here, there = Position(0, "b.000001", 4), Position(0, "b.000001", 9)
    now[0] = 59
    assert not dog.is_due()
    now[0] = 61
    assert dog.is_due()
    assert not dog.is_due()
    assert not dog.is_stuck(here, here)
    assert dog.is_stuck(here, there)
    dog.moved()
    assert not dog.is_stuck(here, there)
