"""Backups: who sees and restores what, looking in, asking twice, and the end of their days."""

import json
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.purging import purge_ingest
from lifecycle.backup.services.totals import backup_totals_refresh
from lifecycle.models import BackupSlice, PurgeNotice
from lifecycle.restore.selectors.backups import BackupChoice
from lifecycle.restore.services.backups import (
    RestoreParams,
    backup_items_request,
    get_preview_for_user,
    restore_preview_request,
    restore_request,
)
from lifecycle.restore.services.late_commits import late_commits_queue
from lifecycle.restore.services.purges import last_chance_queue, purge_due
from lifecycle.schedule.run_kinds.clock import ProbeKind, PurgeKind
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.notices.models import Notice
from portal.runs.models import Run
from portal.runs.requests.selectors import run_events
from portal.runs.requests.services import run_drive
from portal.safety.services import emergency_stop_start
from tests.component.lifecycle.backup_world import backup
from tests.component.lifecycle.plan_world import LAKE, NOW, World
from tests.component.lifecycle.restore_world import scanned_world
from tests.support.stop import end_stop

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)


@pytest.fixture
def world(tmp_path: Path, settings: Settings) -> World:
    return scanned_world(tmp_path, settings)


def wish(batch: BackupBatch, *parts: str, reason: str = "needed") -> RestoreParams:
    return RestoreParams(BackupChoice(batch_ids=(batch.public_id,), partitions=parts), reason)


def ready(preview: Run, **result: object) -> Run:
    """Let a preview have ended with this result."""
    shown = {"n_ready": 2, "n_conflicts": 0, "n_items": 2, "rows": [], "counts": {}} | result
    Run.objects.filter(pk=preview.pk).update(state="DONE", result=shown, finished_at=NOW)
    return Run.objects.get(pk=preview.pk)


def client_of(world: World, name: str) -> Client:
    client = Client()
    client.force_login(world.person(name))
    return client


def test_owners_and_admins_restore_others_do_not(world: World) -> None:
    batch = backup(world.root)
    for name in ("alice", "dora", "anna"):
        run = restore_preview_request(LAKE, wish(batch), user=world.person(name), now=NOW)
        assert run.kind == "lifecycle.restore_preview"
    with pytest.raises(NotAllowed):
        restore_preview_request(LAKE, wish(batch), user=world.person("otto"), now=NOW)
    with pytest.raises(NotVisible):
        restore_preview_request(LAKE, wish(batch), user=world.person("eve"), now=NOW)


def test_asked_twice_a_preview_and_a_restore_are_the_same_run(world: World) -> None:
    batch, alice = backup(world.root), world.person("alice")
    first = restore_preview_request(LAKE, wish(batch), user=alice, now=NOW)
    assert restore_preview_request(LAKE, wish(batch), user=alice, now=NOW + DAY).pk == first.pk
    part = restore_preview_request(LAKE, wish(batch, "dt=2026-01-01"), user=alice, now=NOW)
    assert part.pk != first.pk
    with pytest.raises(StaleState):
        restore_request(first, user=alice, now=NOW)
    preview = ready(first)
    run = restore_request(preview, user=alice, now=NOW)
    assert restore_request(preview, user=alice, now=NOW).pk == run.pk
    assert run.params["batches"] == [str(batch.public_id)]
    assert Run.objects.filter(kind="lifecycle.restore").count() == 1


def test_a_restore_is_refused_without_choice_reason_or_anything_ready(world: World) -> None:
    batch, alice = backup(world.root), world.person("alice")
    with pytest.raises(RuleViolation):
        restore_preview_request(LAKE, RestoreParams(BackupChoice(), "x"), user=alice, now=NOW)
    with pytest.raises(RuleViolation):
        restore_preview_request(LAKE, wish(batch, reason=" "), user=alice, now=NOW)
    preview = restore_preview_request(LAKE, wish(batch), user=alice, now=NOW)
    with pytest.raises(StaleState):
        restore_request(ready(preview, n_ready=0), user=alice, now=NOW)
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason="smoke", now=NOW)
    with pytest.raises(StaleState):
        restore_request(ready(preview), user=alice, now=NOW)
    BackupBatch.objects.update(state="PURGED")
    with pytest.raises(StaleState):
        restore_preview_request(LAKE, wish(batch), user=alice, now=NOW)


def test_a_preview_is_seen_by_who_asked_and_by_admins(world: World) -> None:
    batch = backup(world.root)
    run = restore_preview_request(LAKE, wish(batch), user=world.person("alice"), now=NOW)
    assert get_preview_for_user(run.pk, user=world.person("alice")).pk == run.pk
    assert get_preview_for_user(run.pk, user=world.person("bert")).pk == run.pk
    with pytest.raises(NotVisible):
        get_preview_for_user(run.pk, user=world.person("dora"))


def test_looking_in_copies_the_dropped_items(world: World) -> None:
    batch = backup(world.root)
    run = backup_items_request(batch.public_id, user=world.person("alice"), now=NOW)
    assert run_drive(run.pk).state == "DONE"
    rows = BackupSlice.objects.filter(batch=batch).order_by("partition")
    assert [(row.partition, row.n_files, row.n_bytes) for row in rows] == [
        ("dt=2026-01-01", 2, 150),
        ("dt=2026-01-02", 2, 150),
    ]
    text = client_of(world, "alice").get(f"/lifecycle/backups/batches/{batch.public_id}/")
    assert b"dt=2026-01-01" in text.content
    with pytest.raises(NotVisible):
        backup_items_request(batch.public_id, user=world.person("eve"), now=NOW)


def test_a_manifest_that_was_changed_is_not_trusted(world: World) -> None:
    batch = backup(world.root)
    BackupBatch.objects.update(manifest_sha256="0" * 64)
    run = backup_items_request(batch.public_id, user=world.person("alice"), now=NOW)
    after = run_drive(run.pk)
    assert after.state == "FAILED"
    assert after.error is not None
    assert after.error["code"] == "backup.manifest"


def test_pages_from_day_to_batch(world: World) -> None:
    batch = backup(world.root)
    day = batch.day.isoformat()
    urls = [
        "/lifecycle/backups/",
        f"/lifecycle/backups/days/{day}/",
        f"/lifecycle/backups/days/{day}/sales/orders/",
        f"/lifecycle/backups/batches/{batch.public_id}/",
    ]
    seen = {}
    for name in ("alice", "anna", "otto", "eve"):
        client = client_of(world, name)
        answers = [client.get(url) for url in urls]
        seen[name] = (
            [answer.status_code for answer in answers],
            ["Restore " in answer.content.decode().split("<main")[-1] for answer in answers[1:]],
        )
    assert seen["alice"] == ([200] * 4, [True] * 3)
    assert seen["anna"] == ([200] * 4, [True] * 3)
    assert seen["otto"] == ([200] * 4, [False] * 3)
    assert seen["eve"][0] == [200, 404, 404, 404]
    assert b"sales" not in client_of(world, "eve").get(urls[0]).content.split(b"<main")[1]
    response = client_of(world, "alice").get("/lifecycle/backups/?format=csv")
    lines = b"".join(response.streaming_content).decode().splitlines()  # type: ignore[attr-defined]  # CSV is streamed
    assert len(lines) == 2
    assert "sales,orders,alice" in lines[1]


def test_one_click_asks_for_a_restore_that_goes_straight_on(world: World) -> None:
    batch = backup(world.root)
    body = {"batches": str(batch.public_id), "straight_on": "1", "reason": "needed"}
    assert client_of(world, "eve").post("/lifecycle/backups/restore/", body).status_code == 404
    assert client_of(world, "otto").post("/lifecycle/backups/restore/", body).status_code == 403
    alice = client_of(world, "alice")
    answer = alice.post("/lifecycle/backups/restore/", body)
    preview = Run.objects.get(kind="lifecycle.restore_preview")
    assert answer["Location"] == f"/lifecycle/backups/restore/{preview.pk}/"
    assert preview.params["straight_on"] is True
    page = f"/lifecycle/backups/restore/{preview.pk}/"
    assert b"Reading the current state of the lake" in alice.get(page).content
    rows = [{"name": "sales.orders/dt=1", "choice": "NAME_TAKEN", "reason": "something newer"}]
    ready(preview, n_conflicts=1, rows=rows)
    text = alice.get(page).content.decode()
    assert "Restore 2 items, leave 1 conflict" in text
    assert "something newer" in text
    assert alice.post(page + "go/").status_code == 302
    assert client_of(world, "eve").get(page).status_code == 404
    assert client_of(world, "eve").post(page + "go/").status_code == 404
    assert Run.objects.filter(kind="lifecycle.restore").count() == 1


def test_the_api_of_backups_answers_alike(world: World) -> None:
    batch = backup(world.root)
    base = "/api/v1/lifecycle"

    def ask(name: str, path: str, **body: object) -> int:
        return (
            client_of(world, name)
            .post(base + path, json.dumps(body), content_type="application/json")
            .status_code
        )

    listed = client_of(world, "alice").get(f"{base}/backups/?db=sales").json()["results"]
    assert [row["id"] for row in listed] == [str(batch.public_id)]
    assert client_of(world, "eve").get(f"{base}/backups/").json()["results"] == []
    assert client_of(world, "eve").get(f"{base}/backups/{batch.public_id}/").status_code == 404
    assert client_of(world, "alice").get(f"{base}/restores/{uuid4()}/").status_code == 404
    restore = {"batches": [str(batch.public_id)], "reason": "needed"}
    assert ask("eve", "/restores/", **restore) == 404
    assert ask("otto", "/restores/", **restore) == 403
    assert ask("alice", "/restores/", reason="x") == 400
    assert ask("alice", "/restores/", **restore) == 202
    assert ask("alice", f"/backups/{batch.public_id}/items/") == 202


def test_a_backup_is_purged_only_after_its_days_and_a_notice_sent_three_days_before(
    world: World,
) -> None:
    batch = backup(world.root, dropped_at=NOW - 15 * DAY)
    assert list(purge_due(LAKE, now=NOW + DAY)) == []
    assert last_chance_queue(LAKE, now=NOW) == 2
    assert last_chance_queue(LAKE, now=NOW) == 0
    assert PurgeNotice.objects.filter(batch=batch).count() == 2
    assert set(Notice.objects.filter(kind="lifecycle.last_chance").values_list("recipient")) == {
        ("alice",),
        ("dora",),
    }
    assert list(purge_due(LAKE, now=NOW + 4 * DAY)) == []
    Notice.objects.filter(kind="lifecycle.last_chance").update(state="SENT", sent_on=NOW.date())
    assert list(purge_due(LAKE, now=NOW + 2 * DAY)) == []
    assert list(purge_due(LAKE, now=NOW + 3 * DAY)) == [batch]
    assert PurgeKind().scheduled_params(LAKE, now=NOW + 3 * DAY) == {
        "batches": [str(batch.public_id)]
    }
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason="smoke", now=NOW)
    assert list(purge_due(LAKE, now=NOW + 3 * DAY)) == []


def test_the_clock_of_a_backup_stops_while_the_red_button_is_on(world: World) -> None:
    batch = backup(world.root, dropped_at=NOW - 15 * DAY)
    last_chance_queue(LAKE, now=NOW)
    Notice.objects.update(state="SENT", sent_on=NOW.date())
    now = NOW + 3 * DAY
    assert purge_due(LAKE, now=now) == [batch]
    young = backup(world.root, dropped_at=NOW - 3 * DAY)
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason="smoke", now=NOW - 6 * DAY)
    anna, bert = world.person("anna"), world.person("bert")
    end_stop(LAKE, anna, bert, reason="all clear", now=NOW - DAY)
    assert purge_due(LAKE, now=now) == []
    assert purge_due(LAKE, now=NOW + 5 * DAY) == [], "announced for another date"
    assert last_chance_queue(LAKE, now=NOW + DAY) == 0
    assert last_chance_queue(LAKE, now=NOW + 2 * DAY) == 2
    Notice.objects.filter(state="QUEUED").update(state="SENT", sent_on=(NOW + 2 * DAY).date())
    assert purge_due(LAKE, now=NOW + 5 * DAY) == [batch]
    ends = dict(BackupBatch.objects.values_list("pk", "purge_after"))
    assert ends[batch.pk] == NOW + 5 * DAY
    assert ends[young.pk] == NOW + 12 * DAY + 2 * DAY, "dropped while it was pressed"


def test_a_date_that_moved_by_a_day_at_most_needs_no_new_notice(world: World) -> None:
    batch = backup(world.root, dropped_at=NOW - 15 * DAY)
    last_chance_queue(LAKE, now=NOW)
    Notice.objects.update(state="SENT", sent_on=NOW.date())
    BackupBatch.objects.update(purge_after=NOW + DAY)
    assert last_chance_queue(LAKE, now=NOW) == 0
    assert purge_due(LAKE, now=NOW + 3 * DAY) == [batch]
    PurgeNotice.objects.update(purge_after=None)
    assert purge_due(LAKE, now=NOW + 3 * DAY) == [], "a notice of an earlier version"


def test_a_mail_to_somebody_else_does_not_stand_for_the_owners(world: World) -> None:
    batch = backup(world.root, dropped_at=NOW - 15 * DAY)
    last_chance_queue(LAKE, now=NOW)
    mails = Notice.objects.filter(kind="lifecycle.last_chance")
    mails.filter(recipient="dora").update(state="SENT", sent_on=NOW.date())
    mails.filter(recipient="alice").update(state="FAILED")
    assert purge_due(LAKE, now=NOW + 3 * DAY) == []
    assert last_chance_queue(LAKE, now=NOW + DAY) == 1
    again = mails.get(recipient="alice", day=(NOW + DAY).date())
    mails.filter(pk=again.pk).update(state="SENT", sent_on=(NOW + DAY).date())
    assert purge_due(LAKE, now=NOW + 3 * DAY) == []
    assert purge_due(LAKE, now=NOW + 4 * DAY) == [batch]


def test_where_no_owner_is_known_all_others_must_have_got_the_mail(world: World) -> None:
    batch = backup(world.root, dropped_at=NOW - 15 * DAY, db="other", table_owner="nobody")
    assert last_chance_queue(LAKE, now=NOW) == 3
    mails = Notice.objects.filter(kind="lifecycle.last_chance")
    assert set(mails.values_list("recipient", flat=True)) == {"anna", "bert", "carl"}
    mails.exclude(recipient="carl").update(state="SENT", sent_on=NOW.date())
    assert purge_due(LAKE, now=NOW + 3 * DAY) == []
    mails.update(state="SENT", sent_on=NOW.date())
    assert purge_due(LAKE, now=NOW + 3 * DAY) == [batch]


def test_what_a_purge_left_alone_comes_last_and_papers_need_no_notice(world: World) -> None:
    kept = backup(world.root, dropped_at=NOW - 30 * DAY)
    young = backup(world.root, dropped_at=NOW - 20 * DAY)
    last_chance_queue(LAKE, now=NOW - 4 * DAY)
    Notice.objects.update(state="SENT", sent_on=(NOW - 4 * DAY).date())
    back = backup(world.root, dropped_at=NOW - 16 * DAY, state="RESTORED")
    assert purge_due(LAKE, now=NOW) == [kept, young, back]
    run = Run.objects.create(lake=LAKE, kind="lifecycle.purge", queued_at=NOW)
    left = {"backup": str(kept.public_id), "reason": "held: a law suit", "probed": None}
    purge_ingest(run, {"outcome": "done", "result": {"batches": [left]}}, now=NOW)
    assert purge_due(LAKE, now=NOW) == [young, back, kept]
    BackupBatch.objects.filter(pk=back.pk).update(purged_at=NOW)
    assert purge_due(LAKE, now=NOW) == [young, kept]


def test_pages_and_api_say_why_a_backup_is_still_there_and_what_was_seen(world: World) -> None:
    batch = backup(world.root, dropped_at=NOW - 30 * DAY)
    BackupBatch.objects.update(
        purge_tried_at=NOW, purge_skipped_reason="held: <b>law</b> suit", seconds=0.417
    )
    backup_totals_refresh(batch.lake, [batch.day])
    seen = {
        "item": "i",
        "partition": "dt=1",
        "found": "LATE_COMMIT",
        "detail": "part-1 was written to the old place (1 in all)",
        "is_registered": True,
    }
    probe = batch.probes.get()
    probe.state, probe.details = "LATE_COMMIT", [seen]
    probe.save()
    alice = client_of(world, "alice")
    page = alice.get(f"/lifecycle/backups/batches/{batch.public_id}/").content.decode()
    assert "skipped" in page
    assert "held: &lt;b&gt;law&lt;/b&gt; suit" in page
    assert "0.42 s from the first move" in page
    assert "part-1 was written to the old place (1 in all); registered again" in page
    assert "1 batch skipped by a purge" in alice.get("/lifecycle/backups/").content.decode()
    said = alice.get(f"/api/v1/lifecycle/backups/{batch.public_id}/").json()
    assert (said["purge_skipped_reason"], said["seconds"]) == ("held: <b>law</b> suit", 0.417)
    assert said["probes"][0]["details"] == [seen]
    BackupBatch.objects.update(state="PURGED", purged_at=NOW, purge_skipped_reason="")
    page = alice.get(f"/lifecycle/backups/batches/{batch.public_id}/").content.decode()
    assert "Gone for good" in page
    assert "skipped" not in page


def test_probes_wait_while_the_red_button_is_on(world: World) -> None:
    batch = backup(world.root)
    batch.probes.update(state="DUE")
    assert ProbeKind().scheduled_params(LAKE, now=NOW) is not None
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason="smoke", now=NOW)
    assert ProbeKind().scheduled_params(LAKE, now=NOW) is None


def test_owners_are_told_once_of_data_written_after_a_drop(world: World) -> None:
    run = Run.objects.create(lake=LAKE, kind="lifecycle.probe", queued_at=NOW)
    late = {
        "name": "sales.orders",
        "partition": "dt=1",
        "owner": "alice",
        "found": "LATE_COMMIT",
        "detail": "part-1 was written to the old place",
        "is_registered": True,
    }
    for _ in range(2):
        late_commits_queue(run, [late, {**late, "owner": "nobody"}], now=NOW)
    mails = dict(Notice.objects.values_list("recipient", "text"))
    assert set(mails) == {"alice", "anna", "bert", "carl"}
    assert "part-1 was written to the old place; the new data is registered" in mails["alice"]
    (line,) = run_events(run)
    assert line.text == (
        "Written after its drop: sales.orders dt=1 (LATE_COMMIT). "
        "part-1 was written to the old place"
    )


def test_a_young_backup_gets_no_last_chance_notice(world: World) -> None:
    backup(world.root, dropped_at=NOW - 11 * DAY)
    assert last_chance_queue(LAKE, now=NOW) == 0
    assert last_chance_queue(LAKE, now=NOW + DAY) == 2


@pytest.mark.parametrize("result", [None, {}, {"counts": {}}, {"n_ready": 1}])
def test_the_page_of_a_failed_preview_says_what_failed(world: World, result: object) -> None:
    batch = backup(world.root)
    alice = world.person("alice")
    preview = restore_preview_request(LAKE, wish(batch), user=alice, now=NOW)
    error = {"code": "metastore.unreachable", "message": "The metastore does not answer."}
    Run.objects.filter(pk=preview.pk).update(
        state="FAILED", result=result, error=error, finished_at=NOW
    )
    page = f"/lifecycle/backups/restore/{preview.pk}/"
    text = client_of(world, "alice").get(page).content.decode()
    assert "The metastore does not answer." in text
    assert "The preview has failed." in text
    assert "The preview is ready." not in text
    assert "Can be restored" not in text
