"""Restore tests.

Who starts one, what it draws, what is kept of it, the clock, pages and API.
"""

from collections import Counter
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.core.selectors.scratch import is_own_scratch
from lifecycle.guard.services.events import on_event
from lifecycle.models import DroppedObject, RestoreTest, RestoreTestItem, RestoreVerification
from lifecycle.restore_tests.domain import RestoreTestState, VerificationStatus, scratch_database
from lifecycle.restore_tests.run_kinds import RestoreTestKind
from lifecycle.restore_tests.selectors import (
    items_visible,
    known_contents,
    verification_counts,
    verified_databases,
)
from lifecycle.restore_tests.services.alarms import (
    RestoreTestWatchKind,
    restore_test_failed_queue,
    restore_test_overdue_queue,
)
from lifecycle.restore_tests.services.restore_tests import (
    restore_test_begin,
    restore_test_params,
    restore_test_request,
)
from lifecycle.restore_tests.services.results import restore_test_ingest
from portal.audit.models import AuditEvent
from portal.events.messages import DROP_NOTE, LakeEvent
from portal.lake.errors import NotAllowed, StaleState
from portal.notices.models import Notice
from portal.runs.models import Run
from portal.runs.requests.services import run_cancel
from portal.safety.services import emergency_stop_start
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import LAKE, NOW, World
from tests.component.lifecycle.restore_world import scanned_world
from tests.support.stop import end_stop

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)
PAGE, API = "/lifecycle/drills/", "/api/v1/lifecycle/drills/"


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    return scanned_world(tmp_path, settings)


def found(batch: BackupBatch, outcome: str = "PROVEN", **changes: Any) -> dict[str, Any]:
    """Return what a job says of one item."""
    plain = {
        **{"batch": str(batch.public_id), "item": "b0000001-i001", "partition": "dt=2026-01-01"},
        **{"format": "parquet", "outcome": outcome, "n_files": 2, "n_bytes": 150, "n_rows": 7},
        **{"content": "c" * 64, "differences": [], "remarks": []},
    }
    return plain | changes


def ended(restore_test: RestoreTest, *items: dict[str, Any], **changes: Any) -> RestoreTest:
    """Let a restore test's run end with this manifest."""
    result = {"items": list(items), "cleared": [], "is_clean": True}
    manifest = {"outcome": "done", "error": None, "result": result} | changes
    run = Run.objects.get(pk=restore_test.run_id)
    at = restore_test.started_at + timedelta(minutes=1)
    restore_test_ingest(run, manifest, now=at)
    restore_test_ingest(run, manifest, now=at + DAY)
    Run.objects.filter(pk=run.pk).update(state="DONE", finished_at=at)
    restore_test.refresh_from_db()
    return restore_test


def test_admins_and_operators_start_a_drill_and_there_is_one_at_a_time(world: World) -> None:
    with pytest.raises(StaleState, match="nothing to test"):
        restore_test_request(LAKE, user=world.person("anna"), now=NOW)
    batch = backup(world.root)
    with pytest.raises(NotAllowed):
        restore_test_request(LAKE, user=world.person("alice"), now=NOW)
    first = restore_test_request(LAKE, user=world.person("anna"), now=NOW)
    assert restore_test_request(LAKE, user=world.person("otto"), now=NOW + DAY).pk == first.pk
    assert first.sample == [str(batch.public_id)]
    actions = list(AuditEvent.objects.values_list("action", flat=True))
    assert actions.count("drill.begun") == 1
    other = Run.objects.create(lake=LAKE, kind="lifecycle.drill", queued_at=NOW)
    with pytest.raises(StaleState, match="under way"):
        restore_test_begin(other, now=NOW)


def test_a_drill_whose_run_was_cancelled_in_the_queue_makes_room(world: World) -> None:
    backup(world.root)
    anna = world.person("anna")
    first = restore_test_request(LAKE, user=anna, now=NOW)
    run_cancel(first.run_id, user=anna, now=NOW)
    second = restore_test_request(LAKE, user=anna, now=NOW + DAY)
    first.refresh_from_db()
    assert second.pk != first.pk
    assert (first.state, first.is_clean) == (RestoreTestState.INCOMPLETE, False)


def test_the_job_gets_what_it_needs_and_only_what_can_still_be_restored(
    world: World, settings: Settings
) -> None:
    batch, gone = backup(world.root), backup(world.root, table="old")
    restore_test = restore_test_request(LAKE, user=world.person("anna"), now=NOW)
    assert set(restore_test.sample) == {str(batch.public_id), str(gone.public_id)}
    BackupBatch.objects.filter(pk=gone.pk).update(state="PURGED")
    settings.LAKEWARDEN_DRILL_MAX_BYTES = 5
    params = restore_test_params(restore_test)
    assert [one["id"] for one in params["batches"]] == [str(batch.public_id)]
    assert params["batches"][0]["sha256"] == batch.manifest_sha256
    assert (params["max_bytes"], params["roots"]) == (5, [batch.root])
    assert params["under_way"] == []
    assert RestoreTestKind().request(Run.objects.get(pk=restore_test.run_id)) == params


def test_the_database_unproven_longest_is_drawn_first(world: World, settings: Settings) -> None:
    settings.LAKEWARDEN_DRILL_MAX_ITEMS = 1
    rows = {db: backup(world.root, db=db) for db in ("one", "two", "three")}
    seen = []
    for week in range(3):
        now = NOW + 7 * week * DAY
        restore_test = restore_test_request(LAKE, user=world.person("anna"), now=now)
        (drawn,) = [db for db, row in rows.items() if restore_test.sample == [str(row.public_id)]]
        ended(restore_test, found(rows[drawn]))
        seen.append(drawn)
    assert sorted(seen) == ["one", "three", "two"]


def test_what_was_found_is_kept_once_and_a_failure_stands_until_a_proof(world: World) -> None:
    good, bad = backup(world.root), backup(world.root, db="web", table="logs")
    anna = world.person("anna")
    restore_test = ended(
        restore_test_request(LAKE, user=anna, now=NOW),
        found(good),
        found(bad, "DIFFERS", differences=["a.parquet is missing"], n_rows=None),
        found(bad, "SKIPPED", item="", remarks=["taken"], n_rows=None),
    )
    assert (restore_test.state, restore_test.n_items, restore_test.n_rows) == (
        RestoreTestState.FAILED,
        3,
        7,
    )
    assert (restore_test.n_verified, restore_test.n_differing, restore_test.n_skipped) == (1, 1, 1)
    states = {one.db: one.state for one in verified_databases(LAKE, now=NOW + DAY)}
    assert states == {"web": VerificationStatus.FAILED, "sales": VerificationStatus.PROVEN}
    assert list(states) == ["web", "sales"]
    assert known_contents(LAKE, [good.public_id, bad.public_id]) == {
        str(good.public_id): {"b0000001-i001": "c" * 64}
    }
    again = ended(restore_test_request(LAKE, user=anna, now=NOW + 7 * DAY), found(bad))
    assert again.state == RestoreTestState.PROVEN
    proof = RestoreVerification.objects.get(db="web")
    assert (proof.proven_by, proof.failed_by) == (again, restore_test)
    later = {one.db: one for one in verified_databases(LAKE, now=NOW + 33 * DAY)}
    assert later["web"].state is VerificationStatus.PROVEN
    assert later["sales"].state is VerificationStatus.OVERDUE
    assert later["sales"].last_by == restore_test.public_id


def test_proofs_are_counted_as_they_are_judged_in_one_query(world: World) -> None:
    ages = [None, *(timedelta(days=n, seconds=s) for n in (0, 30, 31) for s in (-1, 0, 1))]
    RestoreVerification.objects.bulk_create(
        RestoreVerification(
            lake=LAKE,
            db=f"db{n}",
            verified_at=NOW - proven if proven is not None else None,
            failed_at=NOW - failed if failed is not None else None,
            backed_up_since=(NOW - since).date() if since is not None else None,
            n_restorable=n % 5,
        )
        for n, (proven, failed, since) in enumerate(product(ages, ages, ages))
    )
    RestoreVerification.objects.create(lake="other", db="db", n_restorable=1)
    with CaptureQueriesContext(connection) as caught:
        counts = verification_counts(now=NOW)
    assert len(caught) == 1
    judged = Counter((LAKE, one.state) for one in verified_databases(LAKE, now=NOW))
    assert counts == judged + Counter({("other", VerificationStatus.WAITING): 1})
    assert len(judged) == len(VerificationStatus)


def test_a_drill_that_died_proves_nothing_and_the_next_says_it_is_cleared(world: World) -> None:
    batch, anna = backup(world.root), world.person("anna")
    error = {"code": "spark.jvm_gone", "message": "The driver's JVM has gone."}
    dead = ended(
        restore_test_request(LAKE, user=anna, now=NOW), outcome="failed", error=error, result={}
    )
    assert (dead.state, dead.reason, dead.is_clean) == (
        RestoreTestState.INCOMPLETE,
        "The driver's JVM has gone.",
        False,
    )
    assert not RestoreVerification.objects.exclude(verified_at=None).exists()
    ended(restore_test_request(LAKE, user=anna, now=NOW + DAY), found(batch))
    dead.refresh_from_db()
    assert dead.is_clean
    nothing = ended(
        restore_test_request(LAKE, user=anna, now=NOW + 2 * DAY), found(batch, "SKIPPED", item="")
    )
    assert nothing.state == RestoreTestState.INCOMPLETE
    assert "Nothing could be compared" in nothing.reason


def test_the_clock_asks_once_a_week_and_not_under_the_red_button(world: World) -> None:
    kind, anna = RestoreTestKind(), world.person("anna")
    assert kind.scheduled_params(LAKE, now=NOW) is None
    batch = backup(world.root)
    assert kind.scheduled_params(LAKE, now=NOW) == {"now": NOW.isoformat()}
    emergency_stop_start(lake=LAKE, pressed_by="anna", reason="look", now=NOW)
    assert kind.scheduled_params(LAKE, now=NOW) is None
    with pytest.raises(StaleState, match="emergency stop"):
        restore_test_request(LAKE, user=anna, now=NOW)
    assert "look" in kind.waits(Run(lake=LAKE), now=NOW)
    end_stop(LAKE, anna, world.person("bert"), reason="seen", now=NOW)
    ended(restore_test_request(LAKE, user=anna, now=NOW - DAY), outcome="died", result={})
    assert kind.scheduled_params(LAKE, now=NOW) is not None
    ended(restore_test_request(LAKE, user=anna, now=NOW), found(batch))
    assert kind.scheduled_params(LAKE, now=NOW + 6 * DAY) is None
    assert kind.scheduled_params(LAKE, now=NOW + 7 * DAY) is not None


def test_a_drills_own_scratch_is_no_news_and_anybody_elses_name_like_it_is(world: World) -> None:
    backup(world.root)
    restore_test = restore_test_request(LAKE, user=world.person("anna"), now=NOW)
    own = scratch_database(str(restore_test.run_id), 1)
    foreign = scratch_database(str(uuid4()), 1)
    assert is_own_scratch(LAKE, own)
    assert not is_own_scratch("other", own)
    for n, db in enumerate((own, foreign), start=1):
        on_event(LakeEvent(LAKE, n, NOW, DROP_NOTE, db, "t1", message={"user": "x"}), NOW)
    assert [row.db for row in DroppedObject.objects.all()] == [foreign]


def test_people_see_what_was_compared_of_their_own(world: World) -> None:
    mine, others = backup(world.root), backup(world.root, db="web", table_owner="bob")
    restore_test = ended(
        restore_test_request(LAKE, user=world.person("anna"), now=NOW), found(mine), found(others)
    )
    assert RestoreTestItem.objects.count() == 2
    names = {
        name: {item.db for item in items_visible(restore_test, world.person(name))}
        for name in ("anna", "otto", "alice", "dora", "eve")
    }
    assert names == {
        "anna": {"sales", "web"},
        "otto": {"sales", "web"},
        "alice": {"sales"},
        "dora": {"sales"},
        "eve": set(),
    }
    assert mine.day == date(2026, 11, 22)


def test_counts_of_a_drill_are_of_what_its_reader_may_see(world: World) -> None:
    mine, others = backup(world.root), backup(world.root, db="web", table_owner="bob")
    small = backup(world.root, db="web", table="own", batch=9, table_owner="alice", n_bytes=7)
    restore_test = ended(
        restore_test_request(LAKE, user=world.person("anna"), now=NOW),
        found(mine, n_rows=7),
        found(others, "DIFFERS", n_rows=30),
    )
    names = ("n_items", "n_verified", "n_differing", "n_bytes", "n_rows")
    seen = {"anna": (2, 1, 1, 300, 37), "alice": (1, 1, 0, 150, 7), "eve": (0, 0, 0, 0, 0)}
    for name, counts in seen.items():
        client = client_of(world, name)
        listed = client.get(API).json()["results"][0]
        one = client.get(f"{API}{restore_test.public_id}/").json()
        (row,) = client.get(PAGE).context["page"].rows
        shown = client.get(f"{PAGE}{restore_test.public_id}/").context["restore_test"]
        line = b"".join(client.get(f"{PAGE}?format=csv")).decode().splitlines()[1].split(",")
        assert tuple(listed[one] for one in names) == counts
        assert tuple(one[field] for field in names) == counts
        assert tuple(getattr(row, one) for one in names) == counts
        assert tuple(getattr(shown, one) for one in names) == counts
        assert (line[5], line[6], line[7]) == tuple(str(counts[n]) for n in (0, 1, 2))
    backups = {one.db: one.n_bytes for one in verified_databases(LAKE, now=NOW)}
    own = {
        one.db: one.n_bytes for one in verified_databases(LAKE, now=NOW, user=world.person("alice"))
    }
    assert own["web"] == small.n_bytes < backups["web"]


def client_of(world: World, name: str) -> Client:
    client = Client()
    client.force_login(world.person(name))
    return client


def test_the_pages_show_what_was_proven_by_which_drill_and_start_one(world: World) -> None:
    anna, alice = client_of(world, "anna"), client_of(world, "alice")
    empty = anna.get(PAGE).content.decode()
    assert "There was no restore test yet" in empty
    assert "No backups of yours are counted yet" in empty
    batch = backup(world.root)
    other = backup(world.root, db="web", table="logs", table_owner="bob")
    answer = anna.post(f"{PAGE}start/", {"reason": "new disks"}, follow=True)
    assert "The restore test is under way" in answer.content.decode()
    assert "Start a restore test" not in alice.get(PAGE).content.decode()
    restore_test = RestoreTest.objects.get()
    assert Run.objects.get(pk=restore_test.run_id).reason == "new disks"
    differs = found(other, "DIFFERS", differences=["a.parquet is missing"])
    ended(restore_test, found(batch, remarks=["of another version"]), differs)
    page = anna.get(f"{PAGE}{restore_test.public_id}/").content.decode()
    for text in ("a.parquet is missing", "of another version", "would not come back"):
        assert text in page
    own = alice.get(f"{PAGE}{restore_test.public_id}/").content.decode()
    assert "sales.orders" in own
    assert "web.logs" not in own
    shown = anna.get(f"{PAGE}{restore_test.public_id}/?outcome=PROVEN").content.decode()
    assert "web.logs" not in shown
    rows = b"".join(anna.get(f"{PAGE}?format=csv&of=databases")).decode()
    assert [line.split(",")[:2] for line in rows.split()][1:] == [
        ["web", "FAILED"],
        ["sales", "PROVEN"],
    ]
    assert "FAILED" in b"".join(anna.get(f"{PAGE}?format=csv&state=FAILED")).decode()
    assert "No restore test fits" in anna.get(f"{PAGE}?state=PROVEN").content.decode()
    assert "Restores not verified" in anna.get("/").content.decode()


def test_the_pages_of_backups_say_when_they_were_last_proven(world: World) -> None:
    batch, anna = backup(world.root), client_of(world, "anna")
    day = f"/lifecycle/backups/days/{batch.day}/"
    one = f"/lifecycle/backups/batches/{batch.public_id}/"
    for address in (day, one):
        assert "no restore test has restored any of it yet" in anna.get(address).content.decode()
    restore_test = ended(
        restore_test_request(LAKE, user=world.person("anna"), now=NOW), found(batch)
    )
    for address in (day, one):
        page = anna.get(address).content.decode()
        assert f"{PAGE}{restore_test.public_id}/" in page
        assert "restored by a restore test" in page
    assert "Last verified" in anna.get("/lifecycle/backups/").content.decode()


def test_a_program_starts_and_reads_drills(world: World) -> None:
    batch = backup(world.root)
    anna, alice = client_of(world, "anna"), client_of(world, "alice")
    assert alice.post(API, {}, content_type="application/json").status_code == 403
    made = anna.post(API, {"reason": "x"}, content_type="application/json")
    assert made.status_code == 202
    restore_test = ended(RestoreTest.objects.get(), found(batch))
    (listed,) = anna.get(f"{API}?state=PROVEN").json()["results"]
    assert listed["id"] == made.json()["id"] == str(restore_test.public_id)
    assert anna.get(f"{API}{restore_test.public_id}/").json()["n_rows"] == 7
    (item,) = alice.get(f"{API}{restore_test.public_id}/items/").json()["results"]
    assert (item["outcome"], item["differences"]) == ("PROVEN", [])
    assert (
        client_of(world, "eve").get(f"{API}{restore_test.public_id}/items/").json()["results"] == []
    )
    (proof,) = anna.get(f"{API}databases/").json()
    assert (proof["db"], proof["state"], proof["proven_by"]) == (
        "sales",
        "PROVEN",
        str(restore_test.public_id),
    )
    assert anna.get(f"{API}{uuid4()}/").status_code == 404


def test_keepers_are_told_of_a_failure_at_once_and_of_what_is_overdue_every_day(
    world: World,
) -> None:
    batch = backup(world.root, dropped_at=NOW - 40 * DAY)
    restore_test = ended(
        restore_test_request(LAKE, user=world.person("anna"), now=NOW),
        found(batch, "DIFFERS", differences=["b.parquet: its size was 50, now it is 49"]),
    )
    keepers = ["anna", "bert", "carl", "otto"]
    for _ in range(2):
        assert restore_test_failed_queue(restore_test, now=NOW) == len(keepers)
    mails = Notice.objects.filter(kind="lifecycle.drill_failed")
    assert sorted(mails.values_list("recipient", flat=True)) == keepers
    assert "its size was 50" in mails[0].text
    assert str(restore_test.public_id) in mails[0].text
    watch = Run(lake=LAKE, params={"now": (NOW + DAY).isoformat()})
    assert RestoreTestWatchKind().execute(watch) == {"mails": len(keepers)}
    told = Notice.objects.filter(kind="lifecycle.drill_overdue").first()
    assert told is not None
    assert "sales: failed in a restore test, never verified" in told.text
    metrics = Client().get("/metrics").content.decode()
    assert 'lakewarden_backups_proven{lake="main",state="FAILED"} 1' in metrics
    good = ended(restore_test_request(LAKE, user=world.person("anna"), now=NOW + DAY), found(batch))
    assert restore_test_failed_queue(good, now=NOW + DAY) == 0
    assert restore_test_overdue_queue(LAKE, now=NOW + 2 * DAY) == 0
    assert restore_test_overdue_queue(LAKE, now=NOW + 40 * DAY) == len(keepers)
