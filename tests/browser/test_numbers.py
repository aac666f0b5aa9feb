"""Tests the numbers on the pages: they are those that plain SQL and `find` count."""

import csv
import io
import re
from collections import Counter
from datetime import UTC, datetime

import pytest

from stack.demo import RECORDED_QUERIES
from stack.lake import live
from stack.lake.plan import SHOP
from tests.browser.conftest import Opener
from tests.browser.demo import LAKE, Demo
from tests.browser.look import Person
from tests.browser.recount import PARTITION_NAMES, PARTITIONS, TABLES, TTL, counted

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(900, func_only=True)]


def as_of(demo: Demo) -> datetime:
    """Return the instant of the picture that is shown."""
    ((text,),) = demo.portal_rows(
        "SELECT g.as_of FROM lifecycle_scansnapshot g"
        " JOIN lifecycle_latestscan c ON c.generation_id = g.id WHERE c.lake = ?",
        LAKE,
    )
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def exported(person: Person, address: str) -> list[dict[str, str]]:
    """Return the CSV of a list: exactly the rows of its filter."""
    answer = person.context.request.get(person.demo.url + address)
    assert answer.ok, (address, answer.status)
    return list(csv.DictReader(io.StringIO(answer.text())))


def numbers(text: str) -> list[int]:
    """Return the whole numbers in a text."""
    return [int(word.replace(",", "")) for word in re.findall(r"\d[\d,]*", text)]


def comes_by_itself(db: str, table: str) -> bool:
    """Whether the optimizer or the capture of the shop makes the table."""
    return "__cube_" in table or f"{db}.{table}" == RECORDED_QUERIES or db == SHOP.name


def test_databases_and_tables(demo: Demo, opened: Opener) -> None:
    tables = demo.metastore_rows(TABLES)
    partitions = demo.metastore_rows(PARTITION_NAMES)
    scanned_at = as_of(demo).timestamp()
    # Tables of cubes, of recorded queries and of captured changes may come after the last scan.
    later = {
        (db, name)
        for db, name, _, made_at in tables
        if comes_by_itself(db, name) and int(made_at) > scanned_at
    }
    in_database = Counter(
        db for db, name, kind, _ in tables if kind != "VIRTUAL_VIEW" and (db, name) not in later
    )
    parts_in_database = Counter(db for db, name, *_ in partitions if (db, name) not in later)
    ada = opened("ada")
    shown = {row["db"]: row for row in exported(ada, "/lifecycle/databases/?format=csv")}
    for db, n_tables in in_database.items():
        assert int(shown[db]["n_tables"]) == n_tables, db
        # One table is written all the time: between two beats it has a partition less.
        off = 1 if db == live.DB else 0
        assert abs(int(shown[db]["n_partitions"]) - parts_in_database[db]) <= off, db
    page_text = ada.go("/lifecycle/databases/").locator("tbody").inner_text()
    for db in in_database:
        assert db in page_text


def test_due_data_of_a_table(demo: Demo, opened: Opener) -> None:
    """Every partition of three tables is judged by hand and compared with what the page says."""
    now = as_of(demo)
    ada = opened("ada")
    rows = demo.portal_rows(
        'SELECT t.db, t."table" FROM lifecycle_tablefinding t'
        " JOIN lifecycle_latestscan c ON c.generation_id = t.generation_id"
        " WHERE t.n_clean_now > 0 AND t.n_partitions BETWEEN 1 AND 200"
        # A table that was dropped and restored since has newer clocks than the picture.
        " AND NOT EXISTS (SELECT 1 FROM act_backupbatch b"
        '  WHERE b.db = t.db AND b."table" = t."table")'
        " AND t.n_nonconforming = 0 AND t.n_held = 0 AND t.n_unready = 0"
        ' ORDER BY t.db, t."table" LIMIT 3'
    )
    assert rows
    for db, table in rows:
        ((_, _, ttl),) = demo.metastore_rows(TTL.format(db=db, table=table))
        judged = counted(
            demo.metastore_rows(PARTITIONS.format(db=db, table=table)), ttl_days=int(ttl)
        )
        due = {one.name for one in judged if one.is_due(now) and not one.is_still_read(now)}
        read = {one.name for one in judged if one.is_due(now) and one.is_still_read(now)}
        items = exported(ada, f"/lifecycle/tables/{db}/{table}/?format=csv")
        shown = {row["partition"]: row for row in items}
        assert {name for name, row in shown.items() if row["cls"] == "CLEAN_NOW"} == due
        assert {name for name, row in shown.items() if row["cls"] == "STILL_READ"} == read
        for one in judged:
            if shown[one.name]["n_bytes"]:
                assert int(shown[one.name]["n_bytes"]) == one.files.n_bytes, one.name
                assert int(shown[one.name]["n_files"]) == one.files.n_files, one.name


def test_home_is_the_sum_of_the_lists(demo: Demo, opened: Opener) -> None:
    ada = opened("ada")
    page = ada.go("/")
    cards = page.locator("a.lw-stat")
    by_title = {
        cards.nth(place).locator(".lw-stat-label").inner_text().strip(): cards.nth(place)
        for place in range(cards.count())
    }
    # These cards are there only while there is such a thing.
    for title in (
        *("Iceberg tables in poor health", "Hudi tables with critical findings"),
        *("Tables whose checks fail", "Open incident", "Open incidents"),
    ):
        by_title.pop(title, None)
    assert len(by_title) == 4, list(by_title)
    n_paths = numbers(by_title["Path rule violations"].locator(".lw-stat-value").inner_text())[0]
    assert n_paths == len(exported(ada, "/lifecycle/paths/?format=csv"))
    tables = exported(ada, "/lifecycle/expiring/?show=CLEAN_NOW&format=csv")
    detail = by_title["Due"].locator(".lw-stat-note").inner_text()
    assert numbers(detail)[0] == sum(int(row["n_clean_now"]) for row in tables)


def test_the_lists_of_runs_and_events(demo: Demo, opened: Opener) -> None:
    """What runs by the clock may begin or end while a list is read: it lies between two counts."""

    def counted_now() -> tuple[int, int]:
        ((n_runs,),) = demo.portal_rows("SELECT count(*) FROM runs_run WHERE lake = ?", LAKE)
        ((n_events, head),) = demo.portal_rows("SELECT count(*), max(seq) FROM audit_auditevent")
        assert n_events == head
        return n_runs, n_events

    ada = opened("ada")
    n_runs, n_events = counted_now()
    n_shown = len(exported(ada, "/runs/?routine=yes&format=csv"))
    n_exported = len(exported(ada, "/audit/?format=csv"))
    text = ada.go("/audit/").locator("#main").inner_text()
    words = re.search(r"([\d,]+) events recomputed", text)
    assert words is not None, text
    later_runs, later_events = counted_now()
    assert n_runs <= n_shown <= later_runs
    assert n_events <= n_exported <= numbers(words[1])[0] <= later_events


def test_backups_by_day(demo: Demo, opened: Opener) -> None:
    rows = demo.portal_rows(
        'SELECT day, count(DISTINCT db || "." || "table"), sum(n_items), sum(n_restored)'
        " FROM act_backupbatch WHERE state <> 'REPORTED' GROUP BY day ORDER BY day DESC"
    )
    page = opened("ada").go("/lifecycle/backups/")
    shown = page.locator("tbody tr")
    assert shown.count() == len(rows)
    for place, (day, *counts) in enumerate(rows):
        text = shown.nth(place).inner_text()
        assert day in text
        assert counts == numbers(text.replace(day, ""))[:3]
