"""A real Trino sends its events, and the portal sums up what its queries scanned."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.advice.selectors import recorded_shapes
from optimizer.models import IcebergTable, QueryDay
from portal.access.services import person_create
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from stack.stack import LAKE, Stack
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.refreshed import follow
from tests.support.report_portal import ReportPortal
from tests.support.trino_client import QueryFailedError, TrinoClient

pytestmark = [pytest.mark.django_db]
N_ROWS = 3_000


@pytest.fixture
def table(lake: IcebergLake, embedded_stack: Stack, settings: Any) -> Iterator[WrittenTable]:
    """Three days of 1,000 rows, known to the portal."""
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    follow()  # the first turn takes what is there as known
    table = WrittenTable(lake, "told")
    table.say(
        "CREATE TABLE {t} (id BIGINT, day DATE, city STRING, at STRUCT<x: BIGINT>) USING iceberg "
        "PARTITIONED BY (day)"
    )
    table.say(
        "INSERT INTO {t} SELECT id, date_add(DATE'2026-05-01', CAST(id % 3 AS INT)), "
        f"concat('c', id % 7), struct(id % 5) FROM range({N_ROWS})"
    )
    follow()
    yield table
    table.say("DROP TABLE {t} PURGE")


def events_of(told: ReportPortal, query_ids: list[str]) -> list[Any]:
    """Wait for the events of some queries; Trino sends them after it has answered."""
    deadline = time.monotonic() + 120
    while True:
        found = [one for one in told.bodies if one["metadata"]["queryId"] in query_ids]
        if len(found) >= len(query_ids):
            return found
        assert time.monotonic() < deadline, f"{len(found)} of {len(query_ids)} events came"
        time.sleep(0.2)


def test_what_trino_scans_is_summed_up_by_its_filters(
    told: ReportPortal, trino: TrinoClient, table: WrittenTable
) -> None:
    asked: dict[str, list[dict[str, str]]] = {
        "SELECT count(*) FROM told WHERE id = 5": [{"id": "="}],
        "SELECT id FROM told WHERE day = DATE '2026-05-02' AND city IN ('c1', 'c2')": [
            {"city": "IN", "day": "="}
        ],
        "SELECT id FROM told WHERE city LIKE 'c1%' AND at.x > 3": [
            {"at.x": "range", "city": "prefix"}
        ],
        "SELECT a.id FROM told a JOIN told b ON a.id = b.id WHERE b.city = 'c3' AND b.at.x = 2": [
            {"id": "dynamic"},
            {"at.x": "=", "city": "="},
        ],
    }
    client = TrinoClient(trino.url, {**trino.headers, "X-Trino-Schema": table.lake.db})
    ids = [client.run(sql).query_id for sql in asked]
    with pytest.raises(QueryFailedError):
        client.run("SELECT nothing FROM told")
    user = person_create("tina", password="correct horse staple", email="t@example.org")
    IcebergTable.objects.filter(table="told").update(owner="tina")
    wish = TokenParams("trino", ("optimizer",), 9)
    secret = token_make("tina", wish, user=user, now=timezone.now()).secret

    for event in events_of(told, ids):
        answer = Client().post(
            f"/api/optimizer/v1/{LAKE}/trino/lake/queries",
            event,
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )
        assert answer.status_code == 202, answer.content

    assert set(told.tokens) == {"Bearer told-by-trino"}
    row = IcebergTable.objects.get(table="told", is_deleted=False)
    shapes = recorded_shapes(row, now=timezone.now()).shapes
    found = [dict(one["filters"]) for one in shapes]
    expected = [one for scans in asked.values() for one in scans]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    day = QueryDay.objects.get()
    assert (day.n_queries, day.n_scans, day.n_unread) == (len(asked), len(expected), 0)
    by_day = next(one for one in shapes if dict(one["filters"]).get("day"))
    assert row.n_bytes is not None
    assert by_day["n_bytes"] == pytest.approx(row.n_bytes / 3, rel=0.01)
