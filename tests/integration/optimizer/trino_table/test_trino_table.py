"""Trino's own table of queries on a real MariaDB is read on, each query once, whatever stops it."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pymysql
import pytest
from django.db.models import Sum
from django.test import Client

from optimizer.models import QueryDay, QuerySeconds, ScanDay, ScanShape, TrinoQueryTable
from optimizer.queries.services.taking import trino_query_report
from optimizer.trino_table.run_kinds import KIND, TrinoTableKind
from optimizer.trino_table.services import MOST_ROWS, trino_table_read
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig, TrinoQueriesDb
from portal.runs.models import Run
from stack.ledger import Ledger
from stack.servers.mariadb import PASSWORD, USER, MariaDb
from tests.component.conftest import LAKE, People, lake, people
from tests.component.optimizer.optimizer_rows import iceberg
from tests.golden.trino import CATALOG, event, events, row_of

__all__ = ["lake", "people"]  # fixtures
pytestmark = pytest.mark.django_db
DATABASE = "trino"
POINT = "SELECT count(*) FROM lake.shop.ev WHERE uid = 40"
BEGUN = datetime(2026, 11, 27, 4, 33, tzinfo=UTC)
"""The recorded queries began in the minutes after it."""
LATER = BEGUN + timedelta(hours=1)
# The columns that are read, and one that is not, with the types that Trino's listener gives them.
TABLE = """
CREATE TABLE trino_queries (
  query_id VARCHAR(255) NOT NULL PRIMARY KEY, query_state VARCHAR(255) NOT NULL,
  query MEDIUMTEXT NOT NULL, plan MEDIUMTEXT NULL, stage_info_json MEDIUMTEXT NULL,
  inputs_json MEDIUMTEXT NOT NULL, `user` VARCHAR(255) NOT NULL, source VARCHAR(255) NULL,
  catalog VARCHAR(255) NULL, `schema` VARCHAR(255) NULL, query_type VARCHAR(255) NULL,
  wall_time_millis BIGINT NOT NULL, physical_input_bytes BIGINT NOT NULL
)
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """A server with Trino's database."""
    work = tmp_path_factory.mktemp("trino_queries")
    found = MariaDb(work, ledger=Ledger(work / "ledger.json"))
    found.start()
    try:
        found.wait_ready()
        run(found, f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4", database="")
        yield found
    finally:
        found.stop()


def run(server: MariaDb, sql: str, *values: object, database: str = DATABASE) -> None:
    link = pymysql.connect(
        host="127.0.0.1", port=server.port, user=USER, password=PASSWORD,
        database=database or None, autocommit=True,
    )  # fmt: skip
    with link, link.cursor() as cursor:
        cursor.execute(sql, values)


def write(server: MariaDb, *rows: dict[str, Any]) -> None:
    for row in rows:
        names = ", ".join(f"`{name}`" for name in row)
        marks = ", ".join(["%s"] * len(row))
        run(server, f"INSERT INTO trino_queries ({names}) VALUES ({marks})", *row.values())


def some(n: int, *, at: datetime = BEGUN) -> list[dict[str, Any]]:
    """Queries without a plan, one a second."""
    said = event(POINT)
    return [
        row_of(
            said,
            query_id=f"{at + timedelta(seconds=place):%Y%m%d_%H%M%S}_{place:05}_abcde",
            query_type="DATA_DEFINITION",
            stage_info_json=None,
            inputs_json="[]",
        )
        for place in range(n)
    ]


@pytest.fixture
def table(
    server: MariaDb, people: People, lake: LakeConfig, settings: Any, tmp_path: Path
) -> TrinoQueryTable:
    """The empty table, in the lake's configuration, read from ten minutes before `BEGUN` on."""
    password = tmp_path / "trino_password"
    password.write_text(f"{PASSWORD}\n")
    database = TrinoQueriesDb(
        "127.0.0.1", DATABASE, USER, str(password), CATALOG, people.owner.username, server.port
    )
    configured(settings, lake, trino_queries=asdict(database))
    run(server, "DROP TABLE IF EXISTS trino_queries")
    run(server, TABLE)
    for name in ("ev", "dim"):
        iceberg(name, now=BEGUN, owner=people.owner.username, n_files=9, n_bytes=90_000, columns={})
    assert asdict(trino_table_read(LAKE, now=BEGUN)) == {"n_rows": 0, "n_known": 0, "problem": ""}
    return TrinoQueryTable.objects.get()


def configured(settings: Any, config: LakeConfig, **more: object) -> None:
    said = {LAKE: {**config.as_dict(), **more}}
    settings.LAKEWARDEN_LAKES.with_name("next.json").write_text(json.dumps(said))
    settings.LAKEWARDEN_LAKES = settings.LAKEWARDEN_LAKES.with_name("next.json")


def counts() -> dict[str, Any]:
    """Return all that queries add to."""
    names = ("n_queries", "n_scans", "n_unknown", "n_failed", "n_unread")
    return {
        **QueryDay.objects.aggregate(**{name: Sum(name) for name in names}),
        "shapes": sorted(ScanShape.objects.values_list("digest", "n_scans", "n_files", "n_bytes")),
        "bytes": ScanDay.objects.aggregate(n=Sum("n_bytes"))["n"],
        "times": list(QuerySeconds.objects.values_list("counts", flat=True)),
    }


@pytest.mark.usefixtures("table")
def test_rows_count_as_events_do(server: MariaDb, people: People) -> None:
    write(server, *map(row_of, events()))
    assert trino_table_read(LAKE, now=BEGUN + timedelta(minutes=2)).n_rows == 0, "not yet due"
    assert trino_table_read(LAKE, now=LATER).n_rows == len(events())
    by_rows = counts()
    assert by_rows["n_queries"] == len(events())
    for model in (QueryDay, ScanShape, ScanDay, QuerySeconds):
        model.objects.all().delete()
    for one in events():
        trino_query_report(LAKE, one, catalog=CATALOG, user=people.admin, now=LATER)
    assert counts() == by_rows


@pytest.mark.usefixtures("table")
def test_a_query_counts_once_however_it_comes(server: MariaDb, people: People) -> None:
    write(server, *map(row_of, events()))
    half = events()[::2]
    for one in half:
        trino_query_report(LAKE, one, catalog=CATALOG, user=people.owner, now=BEGUN)
    found = trino_table_read(LAKE, now=LATER)
    assert (found.n_rows, found.n_known) == (len(events()) - len(half), len(half))
    for hours in (1, 4, 31, 35):
        assert trino_table_read(LAKE, now=LATER + timedelta(hours=hours)).n_rows == 0
    again = trino_query_report(LAKE, events()[1], catalog=CATALOG, user=people.owner, now=LATER)
    assert again.repeated
    assert counts()["n_queries"] == len(events())


@pytest.mark.usefixtures("table")
def test_a_query_that_ended_late_is_found_by_a_later_look(server: MariaDb) -> None:
    short, long, longest = some(3)
    write(server, short)
    assert trino_table_read(LAKE, now=LATER).n_rows == 1
    write(server, long)
    assert trino_table_read(LAKE, now=LATER + timedelta(hours=1)).n_rows == 0
    assert trino_table_read(LAKE, now=LATER + timedelta(hours=3)).n_rows == 1
    write(server, longest)
    assert trino_table_read(LAKE, now=LATER + timedelta(hours=20)).n_rows == 0
    assert trino_table_read(LAKE, now=LATER + timedelta(hours=30)).n_rows == 1
    assert counts()["n_queries"] == 3


def test_a_turn_ends_after_500_rows_or_its_seconds_and_the_next_goes_on(
    server: MariaDb, table: TrinoQueryTable
) -> None:
    write(server, *some(MOST_ROWS + 45))
    seconds = itertools.count(step=61)
    assert trino_table_read(LAKE, now=LATER, clock=lambda: next(seconds)).n_rows == 10
    # At most 500 ids a turn.
    assert trino_table_read(LAKE, now=LATER).n_rows == MOST_ROWS
    assert trino_table_read(LAKE, now=LATER).n_rows == 35
    table.refresh_from_db()
    assert (table.n_rows, counts()["n_queries"]) == (MOST_ROWS + 45, MOST_ROWS + 45)


def test_a_turn_that_was_killed_counts_nothing_twice(
    server: MariaDb, table: TrinoQueryTable
) -> None:
    write(server, *some(20))
    before = table.positions
    trino_table_read(LAKE, now=LATER)
    # As if it died after the queries were taken, and before the position was kept.
    TrinoQueryTable.objects.update(positions=before)
    found = trino_table_read(LAKE, now=LATER)
    assert (found.n_rows, found.n_known) == (0, 20)
    assert counts()["n_queries"] == 20


def test_what_is_odd_or_too_long_is_counted_and_stops_nothing(
    server: MariaDb, table: TrinoQueryTable
) -> None:
    said = event(POINT)
    write(
        server,
        row_of(said, query_id="20261127_043400_1_<b>"),
        row_of(said, query_id="20261127_043400_2_long", stage_info_json="x" * 3 * 1024**2),
        row_of(said, query_id="20261127_043400_3_list", inputs_json="[" * 3 * 1024**2),
        row_of(said),
    )
    assert trino_table_read(LAKE, now=LATER).n_rows == 3
    table.refresh_from_db()
    assert (table.n_odd, table.n_rows) == (1, 3)
    found = counts()
    assert (found["n_queries"], found["n_unread"], found["n_scans"]) == (3, 2, 1)


def page(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.get("/optimizer/advice/?lake=main").content.decode()


def api(user: User) -> dict[str, Any]:
    client = Client()
    client.force_login(user)
    found: dict[str, Any] = client.get("/api/v1/optimizer/queries/trino-table/?lake=main").json()
    return found


def test_a_lost_connection_is_shown_and_tried_again_later_and_later(
    server: MariaDb, people: People, table: TrinoQueryTable
) -> None:
    kind, place = TrinoTableKind(), f"127.0.0.1:{server.port}/{DATABASE}"
    write(server, *some(5))
    server.stop()
    try:
        now = LATER
        for minutes in (1, 2, 4, 8, 16, 30, 30):
            assert kind.scheduled_params(LAKE, now=now) == {}
            assert "cannot be read" in trino_table_read(LAKE, now=now).problem
            table.refresh_from_db()
            assert table.next_at == now + timedelta(minutes=minutes)
            assert kind.scheduled_params(LAKE, now=now + timedelta(seconds=59)) is None
            now = table.next_at
        assert (table.failing_since, table.n_failures) == (LATER, 7)
        for user, sees_it in ((people.admin, True), (people.stranger, False)):
            text = page(user)
            assert "Trino&#x27;s table of queries cannot be read" in text or (
                "Trino's table of queries cannot be read" in text
            )
            assert (place in text) is sees_it
            assert (place in api(user)["problem"]) is sees_it
            assert api(user)["failing_since"] is not None
    finally:
        server.start()
        server.wait_ready()
    row = Run.objects.create(lake=LAKE, kind=KIND, queued_at=now)
    assert trino_table_read(LAKE, now=now).n_rows == 5
    assert kind.scheduled_params(LAKE, now=now) is None, "one is under way"
    row.delete()
    table.refresh_from_db()
    assert (table.problem, table.failing_since, table.next_at) == ("", None, None)
    assert "cannot be read" not in page(people.admin)
    assert "5 queries taken" in page(people.admin)


def test_a_table_that_is_not_there_and_a_reader_that_is_not_are_said(
    server: MariaDb, people: People, table: TrinoQueryTable
) -> None:
    run(server, "DROP TABLE trino_queries")
    assert "trino_queries" in trino_table_read(LAKE, now=LATER).problem
    User.objects.filter(pk=people.owner.pk).update(is_active=False)
    assert "no open account" in trino_table_read(LAKE, now=LATER).problem


def test_after_a_long_silence_only_what_is_known_for_sure_is_read(
    server: MariaDb, people: People, table: TrinoQueryTable
) -> None:
    silent_until = BEGUN + timedelta(days=4)
    write(server, *some(3), *some(2, at=silent_until - timedelta(hours=20)))
    assert trino_table_read(LAKE, now=silent_until).n_rows == 2
    table.refresh_from_db()
    assert table.left_out_from == BEGUN - timedelta(minutes=10)
    assert table.left_out_until == silent_until - timedelta(hours=36)
    assert "were not read" in page(people.admin)


def test_a_lake_without_such_a_table_reads_none(people: People, lake: LakeConfig) -> None:
    assert TrinoTableKind().scheduled_params(LAKE, now=LATER) is None
    assert trino_table_read(LAKE, now=LATER).n_rows == 0
    assert not TrinoQueryTable.objects.exists()
    assert api(people.owner)["is_read"] is False
    assert "own table of queries" not in page(people.admin)


def test_the_run_reads_a_turn(server: MariaDb, table: TrinoQueryTable) -> None:
    del table
    row = Run.objects.create(lake=LAKE, kind=KIND, queued_at=LATER)
    assert TrinoTableKind().execute(row)["problem"] == ""
