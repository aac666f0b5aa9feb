"""Tests the pages of Iceberg tables and the queue: what they show, to whom, by which filter."""

import csv
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.core.selectors.tables import IS_THERE
from optimizer.iceberg.tables.selectors.tables import tables_visible
from portal.access.models import User
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import commit, iceberg, looks, partition, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
TABLES, QUEUE = "/optimizer/tables/", "/optimizer/queue/"
TABS = ("", "files/", "layout/", "commits/", "tasks/")


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(user: User, address: str) -> str:
    answer: Any = client_of(user).get(address)
    assert answer.status_code == 200, answer.content[:400]
    return str(answer.content.decode())


def rows_of(user: User, address: str) -> list[dict[str, str]]:
    glue = "&" if "?" in address else "?"
    answer: Any = client_of(user).get(f"{address}{glue}format=csv")
    return list(csv.DictReader(StringIO(b"".join(answer).decode())))


def named(user: User, address: str) -> list[str]:
    return [row.get("table") or row["subject.table"] for row in rows_of(user, address)]


def test_the_worst_table_comes_first_with_its_trend(people: People, now: datetime) -> None:
    looks(iceberg("fair", now=now), [90, 70, 58], now=now)
    iceberg("good", now=now, health=93.0, score=None)
    iceberg("poor", now=now, health=12.0, score=9.0)
    assert named(people.admin, TABLES) == ["poor", "fair", "good"]
    assert named(people.admin, f"{TABLES}?sort=-score") == ["poor", "fair", "good"]
    assert named(people.admin, f"{TABLES}?sort=-health") == ["good", "fair", "poor"]
    text = page(people.admin, TABLES)
    assert text.index("shop.poor") < text.index("shop.fair") < text.index("shop.good")
    for words in ("1 table is in poor health", "90 small files become 2.", "Trend: from 90 on"):
        assert words in text, words
    assert "Iceberg tables in poor health" in page(people.admin, "/")
    assert "Iceberg tables in poor health" not in page(people.stranger, "/")


def test_a_csv_reads_no_more_than_it_holds(people: People, now: datetime) -> None:
    row = iceberg("fair", now=now)
    looks(row, [90, 70, 58], now=now)
    task(row, now=now)
    with CaptureQueriesContext(connection) as caught:
        assert [one["health"] for one in rows_of(people.admin, TABLES)] == ["58.0"]
    asked = "\n".join(one["sql"] for one in caught)
    assert "optimizer_healthpoint" not in asked
    assert "optimizer_optimizetask" not in asked


def test_a_table_that_was_never_looked_at_comes_after_the_worst(
    people: People, now: datetime
) -> None:
    for place, health in enumerate([None, 95.0, 4.0, None, 51.0]):
        iceberg(f"t{place}", now=now, health=health)
    in_order = ["t2", "t4", "t1", "t0", "t3"]
    assert named(people.admin, TABLES) == in_order
    assert named(people.admin, f"{TABLES}?sort=-health")[:3] == ["t1", "t4", "t2"]
    client, shown, after = client_of(people.admin), [], ""
    while True:
        context = client.get(TABLES, {"size": "1", "after": after}).context
        shown += [row.table for row in context["page"].rows]
        after = context["page"].next_cursor
        if not after:
            break
    assert shown == in_order, "page by page, too"
    api = client.get("/api/v1/optimizer/tables/")
    assert [row["table"] for row in api.json()["results"]] == in_order


def test_filters_of_tables(people: People, now: datetime) -> None:
    task(iceberg("busy", now=now, health=20.0), now=now)
    task(iceberg("done", now=now, health=60.0), now=now, state=TaskState.DONE)
    iceberg("paused", now=now, health=85.0, is_paused=True, paused_by="ada", paused_reason="load")
    iceberg("unseen", now=now, health=None, inspection_error="No permission.", db="other")
    iceberg("gone", now=now, is_deleted=True, deleted_at=now, owner="paul")
    for query, wanted in (
        ("", {"busy", "done", "paused", "unseen"}),
        ("band=POOR", {"busy"}),
        ("band=FAIR", {"done"}),
        ("band=GOOD", {"paused"}),
        ("band=UNKNOWN", {"unseen"}),
        ("show=task", {"busy"}),
        ("show=paused", {"paused"}),
        ("show=problem", {"unseen"}),
        ("show=gone", {"gone"}),
        ("db=oth", {"unseen"}),
        ("table=d", {"done"}),
        ("owner=paul&show=gone", {"gone"}),
        ("db=nothing", set()),
    ):
        assert set(named(people.admin, f"{TABLES}?{query}")) == wanted, query
    assert "No table fits this filter" in page(people.admin, f"{TABLES}?db=nothing")
    assert "No permission." in page(people.admin, TABLES)


def test_everybody_sees_their_own_tables_only(people: People, now: datetime) -> None:
    mine, theirs = iceberg("mine", now=now), iceberg("theirs", now=now, owner="paul")
    task(mine, now=now)
    task(theirs, now=now)
    assert named(people.owner, TABLES) == ["mine"]
    assert named(people.owner, QUEUE) == ["mine"]
    assert named(people.stranger, TABLES) == []
    assert named(people.stranger, QUEUE) == []
    client = client_of(people.owner)
    for tab in TABS:
        assert client.get(f"{TABLES}{mine.pk}/{tab}").status_code == 200
        assert client.get(f"{TABLES}{theirs.pk}/{tab}").status_code == 404
    assert "No Iceberg table of yours is known yet" in page(people.stranger, TABLES)


def test_the_health_tab_says_what_was_lost_and_draws_the_partitions(
    people: People, now: datetime
) -> None:
    row = iceberg(now=now)
    partition(row, "dt=2026-11-22/h=01", health=91.0, deductions=[])
    partition(row, "dt=2026-11-22/h=02", health=15.0)
    partition(row, "dt=2026-11-21/h=02", health=47.0, snapshot_id=6)
    looks(row, [80, 58], now=now)
    text = page(people.owner, f"{TABLES}{row.pk}/")
    for words in (
        "90 of 100 files are small.",
        "Health of partitions",
        "Health over time",
        "Files over time",
        "90 small files become 2.",
    ):
        assert words in text, words
    assert text.index("<code>dt=2026-11-22/h=02") < text.index("<code>dt=2026-11-22/h=01")
    assert "2026-11-21" not in text
    named_so = rows_of(people.owner, f"{TABLES}{row.pk}/?band=POOR")
    assert [one["partition"] for one in named_so] == ["dt=2026-11-22/h=02"]
    begins_so = rows_of(people.owner, f"{TABLES}{row.pk}/?partition=dt%3D2026-11-22/h%3D01")
    assert [one["health"] for one in begins_so] == ["91.0"]


def test_files_and_layout_by_partition(people: People, now: datetime) -> None:
    row = iceberg(now=now)
    partition(row, "dt=2026-11-21", n_small=3)
    partition(row, "dt=2026-11-22", n_laid_out=90)
    row.layouts.create(
        write_id="w1", layout="hilbert(id,at)", snapshot_id=7, at=now, partition="dt=2026-11-22"
    )
    found = rows_of(people.owner, f"{TABLES}{row.pk}/files/")
    assert [one["partition"] for one in found] == ["dt=2026-11-22", "dt=2026-11-21"]
    text = page(people.owner, f"{TABLES}{row.pk}/files/")
    for words in ("Data files by size", '<th scope="row">1-8 MiB</th><td class="lw-num">80</td>'):
        assert words in text, words
    found = rows_of(people.owner, f"{TABLES}{row.pk}/layout/")
    assert [one["partition"] for one in found] == ["dt=2026-11-21", "dt=2026-11-22"]
    text = page(people.owner, f"{TABLES}{row.pk}/layout/")
    for words in ("100 of 200 files", "86 %", "hilbert(id,at)", "Sorted / unsorted files"):
        assert words in text, words


def test_commits_tell_ours_from_writers(people: People, now: datetime) -> None:
    row = iceberg(now=now)
    commit(row, 1, at=now - timedelta(minutes=3))
    commit(row, 2, at=now - timedelta(minutes=2), operation="overwrite")
    commit(row, 3, at=now, is_ours=True, operation="replace", n_added=2, n_removed=90)
    address = f"{TABLES}{row.pk}/commits/"
    for query, wanted in (
        ("", ["3", "2", "1"]),
        ("?who=ours", ["3"]),
        ("?who=writers", ["2", "1"]),
        ("?operation=append", ["1"]),
    ):
        found = rows_of(people.owner, address + query)
        assert [one["snapshot_id"] for one in found] == wanted, query
    text = page(people.owner, address)
    for words in ("removed by Lakewarden", "another writer", "Files added (up)"):
        assert words in text, words


def test_tasks_say_why_what_came_of_it_and_lead_keepers_to_the_run(
    people: People, now: datetime
) -> None:
    row = iceberg(now=now)
    run = Run.objects.create(lake="main", kind="optimize", requested_by="schedule", queued_at=now)
    task(row, now=now, state=TaskState.DONE, run=run.pk)
    held = "Held: its policy's blackout window end at 06:00."
    task(row, now=now, kind=TaskKind.CLUSTER, state=TaskState.HELD, waits_for=held)
    address = f"{TABLES}{row.pk}/tasks/"
    text = page(people.admin, address)
    for words in (
        *("90 files became 2.", "blackout window end at 06:00", "12.5 s", "639 MiB"),
        f"/runs/{run.pk}/",
    ):
        assert words in text, words
    assert f"/runs/{run.pk}/" not in page(people.owner, address)
    assert [one["state"] for one in rows_of(people.owner, f"{address}?kind=CLUSTER")] == ["HELD"]


def test_the_queue_shows_what_waits_runs_and_ended(people: People, now: datetime) -> None:
    run = Run.objects.create(
        lake="main",
        kind="optimize",
        requested_by="schedule",
        queued_at=now,
        state="RUNNING",
        phase="rewrite",
        done=3,
        total=8,
    )
    task(iceberg("low", now=now), now=now, score=1.0)
    task(iceberg("high", now=now), now=now, score=7.0)
    task(iceberg("held", now=now), now=now, state=TaskState.HELD, waits_for="Its budget is spent.")
    task(iceberg("runs", now=now), now=now, state=TaskState.SENT, run=run.pk)
    task(iceberg("done", now=now), now=now, state=TaskState.DONE)
    task(iceberg("lost", now=now), now=now, state=TaskState.ABANDONED, outcome="A writer won.")
    task(iceberg("old", now=now - timedelta(days=3)), now=now - timedelta(days=3),
         state=TaskState.FAILED)  # fmt: skip
    assert named(people.admin, QUEUE) == ["high", "held", "low"]
    assert named(people.admin, f"{QUEUE}?state=HELD") == ["held"]
    assert named(people.admin, f"{QUEUE}?table=hi") == ["high"]
    text = page(people.admin, QUEUE)
    for words in ("3 of 8", "A writer won.", "Its budget is spent.", "1 more failed or abandoned"):
        assert words in text, words
    assert "shop.old" not in text
    live = page(people.admin, f"{QUEUE}now/")
    assert "every 5s" in live
    assert "<html" not in live


def test_an_empty_room_says_what_comes(people: People, now: datetime) -> None:
    assert "No Iceberg table is known yet" in page(people.admin, TABLES)
    text = page(people.admin, QUEUE)
    for words in ("Nothing waits", "Nothing runs now", "every 30s"):
        assert words in text, words
    row = iceberg(
        now=now, health=None, inspected_at=None, looked_snapshot_id=None, decision="", n_small=None,
        deductions=[],
    )  # fmt: skip
    for tab, words in (
        ("", "Files not inspected yet"),
        ("files/", "Files not inspected yet"),
        ("layout/", "Files not inspected yet"),
        ("commits/", "No commits yet"),
        ("tasks/", "No tasks yet"),
    ):
        assert words in page(people.admin, f"{TABLES}{row.pk}/{tab}"), tab


def test_a_gone_and_a_paused_table_say_so(people: People, now: datetime) -> None:
    row = iceberg(
        now=now,
        is_deleted=True,
        deleted_at=now,
        is_paused=True,
        paused_by="ada",
        paused_reason="migration",
    )
    text = page(people.owner, f"{TABLES}{row.pk}/")
    for words in ("The table is gone", "Paused: nothing is done to it", "migration"):
        assert words in text, words


def test_numbers_for_a_monitoring_server(people: People, now: datetime) -> None:
    row = iceberg(now=now, health=12.0)
    task(row, now=now)
    task(row, now=now, kind=TaskKind.FULL, state=TaskState.DONE)
    text = page(people.admin, "/metrics")
    assert 'lakewarden_optimizer_tables{lake="main",health="POOR"} 1' in text
    assert 'lakewarden_optimizer_files{lake="main",files="small"} 90' in text
    assert 'lakewarden_optimizer_tasks{state="WAITING"} 1' in text
    assert "lakewarden_optimizer_oldest_waiting_seconds 54" in text
    assert 'lakewarden_optimizer_ended_last_hour{outcome="DONE"} 1' in text


def test_the_first_page_of_whoever_sees_all_is_read_from_the_index(people: People) -> None:
    rows = tables_visible("main", people.admin).filter(IS_THERE)
    plan = rows.order_by("health", "pk").values_list("health", "pk")[:51].explain()
    assert "optimizer_by_health" in plan, plan
    assert "TEMP B-TREE" not in plan


def test_names_and_reasons_are_shown_as_text(people: People, now: datetime) -> None:
    evil = "<script>alert(1)</script>\"'"
    said = {"part": evil, "points": 3.0, "reason": evil}
    row = iceberg(evil, now=now, decision=evil, inspection_error=evil, deductions=[said],
    owner=evil,
                  is_paused=True, paused_by=evil, paused_reason=evil,
                  partition_spec=evil)  # fmt: skip
    partition(row, evil, deductions=[said])
    row.layouts.create(write_id="w", layout=evil, snapshot_id=7, at=now, partition=evil)
    commit(row, 1, at=now, operation="<script>alert")
    task(row, now=now, reason=evil, waits_for=evil, layout=evil, requested_by=evil)
    task(row, now=now, kind=TaskKind.FULL, state=TaskState.FAILED, outcome=evil)
    for address in (TABLES, QUEUE, *(f"{TABLES}{row.pk}/{tab}" for tab in TABS)):
        assert "<script>alert" not in page(people.admin, address), address


def test_a_number_that_no_row_can_have_is_not_found(people: People) -> None:
    client = client_of(people.admin)
    for root in (TABLES, "/api/v1/optimizer/tables/"):
        for number in (0, 2**63, 10**40):
            assert client.get(f"{root}{number}/").status_code == 404
