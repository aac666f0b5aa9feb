"""Tests the pages of tables, the queue and the history: content, visibility and filters."""

import csv
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.access.models import User
from refresh.changes.domain.changes import Cause
from refresh.changes.domain.pressure import Pressure
from refresh.changes.services.record_changes import digest_of
from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.freshness.selectors.tables import targets_visible
from refresh.history.selectors import history_visible
from refresh.models import ChangedPartition, RefreshOutcome, TableSweep, TargetProbe, WatchedTable
from refresh.worker.domain.lanes import Lane
from refresh.worker.selectors.queue import waiting_visible
from tests.component.conftest import People
from tests.component.refresh.refresh_rows import cluster
from tests.component.refresh.refresh_tables import running, statement, target, waiting, wrong

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
TABLES, QUEUE, HISTORY = "/refresh/tables/", "/refresh/queue/", "/refresh/history/"


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
    return [row.get("table") or row["target.table"] for row in rows_of(user, address)]


def test_r3_what_is_answered_wrongly_now_comes_first(people: People, now: datetime) -> None:
    bi = cluster()
    target(bi, "fresh", now=now)
    lacking = Danger.INCOMPLETE
    target(bi, "incomplete", now=now, freshness=Freshness.STALE, danger=lacking)
    wrong(bi, "wrong", now=now)
    target(bi, "unknown", now=now, freshness=Freshness.UNKNOWN, danger=Danger.UNKNOWN)
    assert named(people.admin, TABLES) == ["wrong", "unknown", "incomplete", "fresh"]
    text = page(people.admin, TABLES)
    assert text.index("shop.wrong") < text.index("shop.unknown") < text.index("shop.fresh")
    assert "Stale results possible" in text
    assert "127.0.0.3:9030: Stale" in text
    home = page(people.admin, "/")
    assert "Tables with stale results" in home
    assert "Tables with stale results" not in page(people.stranger, "/")


def test_ux10_what_is_opted_out_is_grey_in_both_places(people: People, now: datetime) -> None:
    row = wrong(cluster(), "orders", now=now)
    row.watched.is_opted_out, row.watched.opted_out_by, row.watched.opted_out_at = True, "olga", now
    row.watched.save()
    text = page(people.admin, TABLES)
    assert "127.0.0.3:9030: Not maintained" in text
    for shown in (text, page(people.admin, f"{TABLES}{row.pk}/")):
        assert "Not maintained" in shown
        assert "Stale results possible.</strong>" not in shown
        assert "lw-bad" not in shown.partition("<table")[2]


def test_ux36_what_went_a_day_ago_and_is_well_is_listed_only_on_demand(
    people: People, now: datetime
) -> None:
    bi = cluster()
    for name, days, danger in (("lately", 0, Danger.NONE), ("well", 2, Danger.NONE)):
        row = target(bi, name, now=now, danger=danger)
        WatchedTable.objects.filter(pk=row.watched_id).update(
            is_deleted=True, changed_at=now - timedelta(days=days)
        )
    late = wrong(bi, "late", now=now)
    WatchedTable.objects.filter(pk=late.watched_id).update(
        is_deleted=True, changed_at=now - timedelta(days=2)
    )
    assert named(people.admin, TABLES) == ["late", "lately"]
    assert named(people.admin, f"{TABLES}?show=gone") == ["late", "lately", "well"]


def test_filters_of_tables(people: People, now: datetime) -> None:
    bi, etl = cluster(), cluster("etl")
    wrong(bi, "orders", now=now)
    waiting(bi, "carts", now=now, owner="paul")
    running(etl, "clicks", now=now)
    target(etl, "visits", now=now, n_tries=2, not_before=now, due_at=now)
    off = target(bi, "left_out", now=now)
    off.watched.is_opted_out = True
    off.watched.save()
    for query, wanted in (
        ("cluster=etl", {"clicks", "visits"}),
        ("danger=WRONG", {"orders", "carts", "clicks"}),
        ("freshness=FRESH", {"visits", "left_out"}),
        ("show=waiting", {"carts", "visits"}),
        ("show=running", {"clicks"}),
        ("show=failing", {"visits"}),
        ("show=off", {"left_out"}),
        ("person=paul", {"carts"}),
        ("table=c", {"carts", "clicks"}),
        ("db=sho", {"orders", "carts", "clicks", "visits", "left_out"}),
        ("db=other", set()),
    ):
        assert set(named(people.admin, f"{TABLES}?{query}")) == wanted, query
    assert "No table fits this filter" in page(people.admin, f"{TABLES}?db=other")


def test_everybody_sees_their_own_tables_only(people: People, now: datetime) -> None:
    bi = cluster()
    mine = wrong(bi, "mine", now=now)
    theirs = waiting(bi, "theirs", now=now, owner="paul")
    statement(mine, began=now)
    other = statement(theirs, began=now)
    assert named(people.owner, TABLES) == ["mine"]
    assert named(people.owner, HISTORY) == ["mine"]
    assert named(people.owner, QUEUE) == []
    assert named(people.stranger, TABLES) == []
    client = client_of(people.owner)
    assert client.get(f"{TABLES}{mine.pk}/").status_code == 200
    assert client.get(f"{TABLES}{theirs.pk}/").status_code == 404
    assert client.get(f"{HISTORY}{other.public_id}/").status_code == 404
    assert "None of your tables yet" in page(people.stranger, TABLES)


def test_n12_the_table_page_says_state_and_reason_on_every_front_end(
    people: People, now: datetime
) -> None:
    bi = cluster(n_fes=3)
    row = wrong(bi, "orders", now=now)
    on_fe = row.on_fes.get(fe__name="bi-fe1")
    on_fe.problem, on_fe.n_tries = "java.net.SocketTimeoutException: Read timed out", 3
    on_fe.diverged_at, on_fe.divergence_reason = now, "9 partitions of 10"
    on_fe.save()
    row.on_fes.get(fe__name="bi-fe2").delete()
    unread = "Permission denied: /user/<b>olga</b>/orders"
    TableSweep.objects.create(table=row.watched, inspected_at=now, problem=unread)
    TargetProbe.objects.create(target=row, probed_at=now, problem="The front end does not answer.")
    statement(row, began=now - timedelta(minutes=3))
    statement(
        row,
        began=now - timedelta(minutes=2),
        ending=RefreshOutcome.PARTIAL,
        message="1 of 2 missed it",
    )
    text = page(people.admin, f"{TABLES}{row.pk}/")
    for words in (
        "Changed and not refreshed since: dt=2026-11-21.",
        "Read timed out",
        "9 partitions of 10",
        "Nothing was refreshed there yet",
        "Seconds a statement took",
        "1 of 2 missed it",
        "Done in part",
        "Repair on 127.0.0.3:9030",
        "nothing could be concluded: Permission denied: /user/&lt;b&gt;olga&lt;/b&gt;/orders",
        "not everything could be compared: The front end does not answer.",
        "Disable auto-refresh",
        "Refresh now",
    ):
        assert words in text, words
    message = client_of(people.admin).get(f"/api/v1/refresh/tables/{row.pk}/").json()
    assert message["sweep"]["problem"] == unread
    assert message["probe"]["problem"] == "The front end does not answer."
    row.watched.is_deleted = True
    row.watched.save()
    assert "Ask if it is back" in page(people.admin, f"{TABLES}{row.pk}/")
    owner = page(people.owner, f"{TABLES}{row.pk}/")
    assert "Refresh now" in owner
    assert "Repair on" not in owner
    assert "Disable auto-refresh" not in owner


def test_a_hundred_owed_partitions_are_counted_and_the_first_shown(
    people: People, now: datetime
) -> None:
    row = wrong(cluster(), "orders", now=now)
    ChangedPartition.objects.bulk_create(
        ChangedPartition(
            table=row.watched, digest=digest_of(f"h={n}"), name=f"h={n}", at=now, touch="ADDED"
        )
        for n in range(100)
    )
    text = page(people.admin, f"{TABLES}{row.pk}/")
    assert "50 of 101 partitions" in text
    assert "h=48" in text
    assert "h=50" not in text


def test_the_queue_shows_what_runs_what_waits_and_what_is_tried_again(
    people: People, now: datetime
) -> None:
    bi = cluster()
    running(bi, "busy", now=now)
    waiting(bi, "urgent", now=now, is_urgent=True)
    waiting(bi, "slow", now=now, lane=Lane.SLOW)
    waiting(bi, "new", now=now, lane=None)
    waiting(bi, "failed", now=now, n_tries=3, not_before=now + timedelta(minutes=9), problem="5074")
    target(bi, "idle", now=now)
    text = page(people.admin, QUEUE)
    assert "127.0.0.2:9030" in text
    assert "5074" in text
    assert "12.5" in text
    waits = named(people.admin, QUEUE)
    assert waits[0] == "urgent"
    assert set(waits) == {"urgent", "slow", "new", "failed"}
    assert named(people.admin, f"{QUEUE}?lane=SLOW") == ["slow"]
    assert named(people.admin, f"{QUEUE}?lane=NEW") == ["new"]
    assert named(people.admin, f"{QUEUE}?show=retry") == ["failed"]
    assert named(people.admin, f"{QUEUE}?show=urgent") == ["urgent"]
    live = page(people.admin, f"{QUEUE}now/")
    assert "every 5s" in live
    assert "<html" not in live


def test_a_queue_at_rest_is_asked_less_often_and_says_what_hinders_it(
    people: People, now: datetime
) -> None:
    bi, etl = cluster(), cluster("etl")
    bi.is_paused, bi.paused_by, bi.paused_at, bi.paused_reason = True, "ada", now, "upgrade"
    bi.save()
    etl.pressure = Pressure.FULL
    etl.save()
    text = page(people.admin, QUEUE)
    assert "Cluster bi is paused" in text
    assert "upgrade" in text
    assert "Cluster etl: the queue is full" in text
    assert "every 30s" in text
    assert "Nothing waits" in text


def test_history_has_its_filters_and_its_detail(people: People, now: datetime) -> None:
    bi, etl = cluster(), cluster("etl")
    orders, clicks = target(bi, "orders", now=now), target(etl, "clicks", now=now)
    statement(orders, began=now - timedelta(days=3))
    bad = statement(
        clicks,
        began=now - timedelta(hours=1),
        ending=RefreshOutcome.FAILED,
        causes=(Cause.HOOK, Cause.PERSON),
        code=1064,
        message="Failed to get table",
    )
    statement(clicks, began=now, ending=RefreshOutcome.RUNNING)
    assert named(people.admin, HISTORY) == ["clicks", "clicks", "orders"]
    day = f"{now - timedelta(days=2):%Y-%m-%d}"
    for query, wanted in (
        ("cluster=bi", ["orders"]),
        ("table=cl&ending=FAILED", ["clicks"]),
        ("ending=RUNNING", ["clicks"]),
        ("cause=PERSON", ["clicks"]),
        ("cause=EVENT", ["clicks", "orders"]),
        ("cause=SWEEP", []),
        (f"until={day}", ["orders"]),
        (f"since={day}", ["clicks", "clicks"]),
    ):
        assert named(people.admin, f"{HISTORY}?{query}") == wanted, query
    row = rows_of(people.admin, f"{HISTORY}?ending=FAILED")[0]
    assert (row["waited"], row["seconds"], row["get_lane_display"]) == ("4.0", "2.5", "FAST")
    text = page(people.admin, f"{HISTORY}{bad.public_id}/")
    for words in (
        "Failed to get table",
        "1064",
        "Job, Person",
        "ConnectException",
        "dt=2026-11-21",
    ):
        assert words in text, words


def test_numbers_for_a_monitoring_server(people: People, now: datetime) -> None:
    bi = cluster()
    waiting(bi, "orders", now=now)
    statement(target(bi, "carts", now=now), began=now)
    text = page(people.admin, "/metrics")
    assert 'lakewarden_refresh_tables{cluster="bi",state="STALE"} 1' in text
    assert 'lakewarden_refresh_waiting{cluster="bi",lane="FAST"} 1' in text
    assert 'lakewarden_refresh_oldest_waiting_seconds{cluster="bi",lane="FAST"} 6' in text
    assert 'lakewarden_refresh_worst_staleness_seconds{cluster="bi",danger="WRONG"} 42' in text
    assert 'lakewarden_refresh_statements_last_hour{ending="DONE"} 1' in text


def test_the_first_page_of_whoever_sees_all_is_read_from_the_index(people: People) -> None:
    for rows, order, index in (
        (targets_visible("main", people.admin), ("rank", "pk"), "refresh_target_rank"),
        (history_visible("main", people.admin), ("-id", "-pk"), "refresh_refresh"),
        (waiting_visible("main", people.admin), None, "refresh_target_due"),
    ):
        wanted = rows.order_by(*order) if order else rows.order_by()
        plan = wanted.values_list("pk")[:51].explain()
        assert f"SCAN {index}" in plan or f"INDEX {index}" in plan, plan
        assert "TEMP B-TREE" not in plan


def test_names_and_reasons_are_shown_as_text(people: People, now: datetime) -> None:
    evil = "<script>alert(1)</script>\"'"
    row = wrong(cluster(), evil, now=now, problem=evil, n_tries=1)
    row.on_fes.update(reason=evil, problem=evil, divergence_reason=evil, diverged_at=now)
    made = statement(row, began=now, message=evil, on_fes={evil: ["FAILED", evil]})
    for address in (
        *(TABLES, f"{TABLES}{row.pk}/", QUEUE, HISTORY),
        f"{HISTORY}{made.public_id}/",
    ):
        assert "<script>alert" not in page(people.admin, address), address


def test_a_number_that_no_row_can_have_is_not_found(people: People) -> None:
    client = client_of(people.admin)
    for root in (TABLES, "/api/v1/refresh/tables/"):
        for number in (0, 2**63, 10**40):
            assert client.get(f"{root}{number}/").status_code == 404


def test_ux37_a_statement_names_front_ends_by_host_and_port(people: People, now: datetime) -> None:
    row = target(cluster(), "orders", now=now)
    sent = statement(row, began=now, on_fes={"bi-fe0": ["DONE", ""], "gone": ["DONE", ""]})
    text = page(people.admin, f"{HISTORY}{sent.public_id}/")
    assert '<code title="bi-fe0">127.0.0.2:9030</code>' in text
    assert '<code title="gone">gone</code>' in text
    for address in (HISTORY, f"{TABLES}{row.pk}/"):
        assert "127.0.0.2:9030: Done" in page(people.admin, address)
