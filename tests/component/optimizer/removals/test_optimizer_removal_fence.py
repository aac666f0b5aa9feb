"""A run that removes has a lease and a fence, and what it removed is always told."""

import json
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.core.domain.tasks import TaskKind
from optimizer.hudi.planner.run_kinds import HudiRemoveKind
from optimizer.iceberg.maintenance.domain.quarantine import MANIFEST, QuarantinePlace
from optimizer.iceberg.maintenance.run_kinds import DeleteQuarantineKind, ReturnKind
from optimizer.iceberg.maintenance.services.quarantines import quarantine_return
from optimizer.iceberg.planner.run_kinds import RemoveKind
from optimizer.models import Quarantine, RemovalPlan
from optimizer.removals.domain.papers import FENCE, SEALED
from optimizer.removals.services.removals import removal_decide
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath
from portal.runs.models import Run
from portal.runs.records.spools import new_spool, open_spool
from portal.safety.fence import read_lease, write_lease
from portal.safety.services import emergency_stop_start
from tests.component.conftest import LAKE, People
from tests.component.optimizer.iceberg.removal_rows import proposed
from tests.component.optimizer.optimizer_rows import iceberg

pytestmark = pytest.mark.django_db
NAMES = ("data/a.parquet", "data/gone/b.parquet", "c.avro")


@pytest.fixture(autouse=True)
def cooling_off(settings: Any) -> None:
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 0


@pytest.fixture
def place(lake: LakeConfig, tmp_path: Path) -> Path:
    """A table's directory with three orphan files, ten bytes each."""
    found = tmp_path / "wh" / "clicks"
    for name in NAMES:
        (found / name).parent.mkdir(parents=True, exist_ok=True)
        (found / name).write_bytes(b"x" * 10)
    return found


def listed(place: Path) -> tuple[bytes, str]:
    """Return the list of the three files, as the job writes it, and its digest."""
    rows: list[dict[str, Any]] = [{"quarantine_days": 7}]
    rows += [{"path": f"file://{place / name}", "size": 10, "mtime": 1} for name in NAMES]
    data = "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows).encode()
    return data, sha256(data).hexdigest()


def approved(place: Path, people: People, kind: TaskKind = TaskKind.ORPHANS) -> RemovalPlan:
    now = timezone.now()
    _, digest = listed(place)
    plan = proposed(
        iceberg(location=f"file://{place}"),
        now=now,
        kind=kind,
        requested_by="olga",
        digest=digest,
        n_items=3,
        quarantine_days=7,
    )
    for user in (people.second, people.third):
        answer = DecisionInput("APPROVE", "", digest)
        removal_decide(plan.pk, user=user, answer=answer, authenticated_at=now, now=now)
    plan.refresh_from_db()
    return plan


def started(kind: RemoveKind | HudiRemoveKind | DeleteQuarantineKind) -> Run:
    """Start a run as the launcher does, but for the application."""
    run = Run.objects.create(
        lake=LAKE, kind=kind.name, epoch=1, requested_by="schedule", queued_at=timezone.now()
    )
    run.spool = str(new_spool(run).root)
    run.save()
    open_spool(run).create()
    kind.prepare(run)
    return run


def moved(plan: RemovalPlan, place: Path, names: tuple[str, ...]) -> Path:
    """Move files aside as the job does; returns the directory."""
    data, _ = listed(place)
    at = QuarantinePlace(_path(place), str(plan.pk))
    aside = Path(at.open.path)
    (aside / MANIFEST).write_bytes(data)
    for n, name in enumerate(NAMES):
        if name in names:
            (place / name).rename(aside / f"f{n:07d}")
    return Path(at.held.path)


def _path(place: Path) -> LakePath:
    return LakePath.parse(f"file://{place}")


def ended(kind: RemoveKind | DeleteQuarantineKind | ReturnKind, run: Run, **result: Any) -> None:
    """Settle a run and take its result in, twice."""
    manifest = {"outcome": "done", "result": result} if result else {"outcome": "died"}
    for _ in range(2):
        kind.settle(run)
        kind.ingest(run, manifest)


def code(step: Callable[[], object]) -> str:
    with pytest.raises(PortalError) as error:
        step()
    return error.value.code


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("kind", [RemoveKind(), HudiRemoveKind(), DeleteQuarantineKind()])
def test_a_run_that_removes_has_a_lease_that_its_beat_renews_and_settling_ends(
    lake: LakeConfig, kind: RemoveKind
) -> None:
    assert (kind.acting, kind.destroys) == (True, True)
    run = started(kind)
    spool = open_spool(run)
    fence = spool.root.child(FENCE)
    first = read_lease(spool.fs, fence)
    assert timedelta(seconds=50) < first - timezone.now() <= timedelta(seconds=60)
    kind.beat(run)
    assert read_lease(spool.fs, fence) > first
    assert kind.request(run)["acting"] is True
    emergency_stop_start(lake=LAKE, pressed_by="ada", reason="stop", now=timezone.now())
    kind.beat(run)
    assert spool.read_control()["cancel"] is True
    for _ in range(2):
        kind.settle(run)
    assert spool.fs.status(fence) is None
    assert spool.fs.status(spool.root.child(SEALED)) is not None
    kind.beat(run)
    assert spool.fs.status(fence) is None, "a lease is not written back"


def test_a_run_whose_application_still_lives_is_not_settled(place: Path, people: People) -> None:
    plan, kind = approved(place, people), RemoveKind()
    run = started(kind)
    moved(plan, place, NAMES)
    run.host, run.pid, run.pgid, run.pid_started = "elsewhere", 1, 1, 1.0
    assert code(lambda: kind.settle(run)) == "act.alive"
    assert not Quarantine.objects.exists()
    spool = open_spool(run)
    write_lease(spool.fs, spool.root.child(FENCE), until=timezone.now() - timedelta(seconds=61))
    kind.settle(run)
    assert Quarantine.objects.get().n_files == 3


def test_what_a_dead_run_moved_is_in_quarantine_and_is_told(place: Path, people: People) -> None:
    plan, kind = approved(place, people), RemoveKind()
    run = started(kind)
    held = moved(plan, place, NAMES[:2])
    ended(kind, run)
    plan.refresh_from_db()
    row = Quarantine.objects.get()
    assert (plan.state, plan.removed["n_files"], plan.removed["n_bytes"]) == ("FAILED", 2, 20)
    assert "2 files were moved into quarantine before that." in plan.outcome
    assert (row.state, row.n_files, row.n_bytes, row.directory) == ("HELD", 2, 20, f"file://{held}")
    assert row.delete_after - row.moved_at == timedelta(days=7)
    assert (place / NAMES[2]).exists()
    # Whoever was given up finds no place to move to.
    assert not Path(f"{held}.open").exists()


def test_a_run_that_moved_nothing_leaves_nothing_behind(place: Path, people: People) -> None:
    plan, kind = approved(place, people), RemoveKind()
    run = started(kind)
    moved(plan, place, ())
    ended(kind, run)
    assert not Quarantine.objects.exists()
    assert sorted(one.name for one in place.iterdir()) == ["c.avro", "data"]


def test_what_a_dead_expiry_deleted_is_told_from_its_papers(place: Path, people: People) -> None:
    plan, kind = approved(place, people, TaskKind.EXPIRE), RemoveKind()
    run = started(kind)
    fence = Path(open_spool(run).root.child(FENCE).path)
    paths = [f"file://{place / name}" for name in NAMES]
    papers: dict[str, dict[str, Any]] = {
        f"intent.{plan.task_id}.000001.json": {"snapshots": [1, 2]},
        f"done.{plan.task_id}.000001.json": {"n_snapshots": 2},
        f"intent.{plan.task_id}.000002.json": {"files": paths[:1]},
        f"done.{plan.task_id}.000002.json": {"n_files": 1},
        f"intent.{plan.task_id}.000003.json": {"files": paths[1:]},
        f"intent.{plan.task_id + 1}.000001.json": {"files": paths},
    }
    for name, content in papers.items():
        (fence / name).write_text(json.dumps(content))
    (place / NAMES[1]).unlink()
    ended(kind, run)
    plan.refresh_from_db()
    assert (plan.state, plan.removed["n_files"]) == ("FAILED", 2)
    for words in ("2 snapshots were expired.", "2 files were deleted before that."):
        assert words in plan.outcome, plan.outcome


def held_list(place: Path, people: People) -> RemovalPlan:
    """A list of which all files lie in quarantine."""
    plan, kind = approved(place, people), RemoveKind()
    run = started(kind)
    moved(plan, place, NAMES)
    removed = {"n_items": 3, "n_files": 3, "n_bytes": 30, "files": {}}
    said = {"task": plan.task_id, "outcome": "DONE", "reason": "3 moved.", "removed": removed}
    ended(kind, run, results=[said])
    plan.refresh_from_db()
    assert plan.state == "DONE"
    return plan


def returning() -> None:
    kind, run = ReturnKind(), Run.objects.get(kind="optimizer.return")
    ended(kind, run, **kind.execute(run))


def test_one_click_brings_the_files_back_and_never_over_another(
    place: Path, people: People
) -> None:
    plan = held_list(place, people)
    assert not any((place / name).exists() for name in NAMES)
    shutil.rmtree(place / "data" / "gone")
    (place / NAMES[2]).write_bytes(b"new")
    page, owner = f"/optimizer/removals/{plan.pk}/", client_of(people.owner)
    text = owner.get(page).content.decode()
    for words in ("In quarantine", "Restore the files", "deleted after"):
        assert words in text, words
    assert client_of(people.stranger).post(f"{page}bring-back/").status_code == 404
    assert owner.post(f"{page}bring-back/").status_code == 302
    assert owner.post(f"{page}bring-back/").status_code == 409
    returning()
    assert [(place / name).read_bytes() for name in NAMES] == [b"x" * 10, b"x" * 10, b"new"]
    row = Quarantine.objects.get()
    assert (row.state, row.n_files) == ("HELD", 1)
    assert "1 files could not be brought back" in row.reason
    (place / NAMES[2]).unlink()
    Run.objects.filter(kind="optimizer.return").delete()
    answer = owner.post(f"/api/v1/optimizer/removals/{plan.pk}/bring-back/")
    assert (answer.status_code, answer.json()["quarantine"]["state"]) == (200, "RETURNING")
    returning()
    row.refresh_from_db()
    assert (row.state, row.n_files, row.ended_by) == ("RETURNED", 0, "olga")
    assert sorted(one.name for one in place.iterdir()) == ["c.avro", "data"]
    asked = AuditEvent.objects.filter(action__startswith="quarantine.")
    assert [one.action for one in asked.order_by("pk")] == [
        *("quarantine.return_asked", "quarantine.returned"),
        *("quarantine.return_asked", "quarantine.returned"),
    ]


def test_what_is_due_is_taken_by_one_run_and_given_back_when_it_dies(
    place: Path, people: People
) -> None:
    plan, kind = held_list(place, people), DeleteQuarantineKind()
    now = timezone.now()
    assert kind.scheduled_params(LAKE, now=now) is None
    late = now + timedelta(days=8)
    assert kind.scheduled_params(LAKE, now=late) == {}
    Quarantine.objects.update(delete_after=now)
    run = started(kind)
    (order,) = kind.request(run)["quarantines"]
    assert (order["plan"], order["digest"]) == (str(plan.pk), plan.digest)
    row = Quarantine.objects.get()
    assert (row.state, Path(f"{row.directory[7:]}.going").exists()) == ("DELETING", True)
    assert code(lambda: _bring_back(plan, people, late)) == "quarantine.closed"
    Path(f"{row.directory[7:]}.going/f0000001").unlink()
    ended(kind, run)
    Run.objects.update(finished_at=now)
    row.refresh_from_db()
    assert (row.state, row.n_files, row.n_bytes) == ("HELD", 2, 20)
    # It is tried again the next day, not at once.
    assert kind.scheduled_params(LAKE, now=now + timedelta(hours=23)) is None
    assert kind.scheduled_params(LAKE, now=late) == {}


def test_a_manifest_that_somebody_changed_keeps_everything(place: Path, people: People) -> None:
    held_list(place, people)
    row = Quarantine.objects.get()
    manifest = Path(row.directory[7:]) / MANIFEST
    manifest.write_bytes(manifest.read_bytes() + b"{}\n")
    Quarantine.objects.update(delete_after=timezone.now())
    kind = DeleteQuarantineKind()
    ended(kind, started(kind))
    row.refresh_from_db()
    assert (row.state, row.n_files) == ("HELD", 3)
    assert "not the list that was approved" in row.reason


def _bring_back(plan: RemovalPlan, people: People, now: datetime) -> object:
    return quarantine_return(plan.pk, user=people.owner, now=now)
