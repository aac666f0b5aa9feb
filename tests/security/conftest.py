"""The world that is attacked: seven people, a scanned lake and one of each object in it."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from lifecycle.backup.domain.states import BackupState, HoldKind
from lifecycle.backup.models import BackupBatch, Hold
from lifecycle.backup.services.holds import hold_place
from lifecycle.drop.services.deletion_requests import deletion_request
from lifecycle.drop.services.standing_rules import RuleParams, standing_rule_request
from lifecycle.enrollment.services.enrollments import EnrollmentParams, enrollment_request
from lifecycle.models import (
    DatabaseFinding,
    DeletionConsent,
    DroppedObject,
    Enrollment,
    PathException,
    PolicyEvent,
    PolicyRequest,
    RestoreTest,
    SamplePartition,
    TableFinding,
)
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.services.request_params import SetParams, policy_set_request
from lifecycle.restore.services.backups import PREVIEW_KIND
from optimizer.models import IcebergTable
from portal.access.scopes import Scope, register_scope
from portal.notices.calendar import calendar_address_make
from portal.notices.services import Mail, notice_queue
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from portal.runs.models import Run
from refresh.models import Cluster
from tests.component.lifecycle.fix_world import drawn_fix, stray_findings
from tests.component.lifecycle.plan_world import LAKE, NOW, TODAY, World, make_world, partitions
from tests.component.portal.ui.table_rows import listed
from tests.security.mail_values import mail_values
from tests.security.odd_lake import OddLake, odd_lake
from tests.security.optimizer_values import optimizer_values
from tests.security.pipelines_values import pipelines_values
from tests.security.ready_values import ready_values
from tests.security.refresh_values import refresh_values
from tests.security.target import Target

register_scope(Scope("refresh", "Tell what a job has written."))
NAME = ("sales", "orders", "")


@pytest.fixture
def target(tmp_path: Path, settings: Any, transactional_db: None) -> Target:
    """A lake with one of everything that an address can name."""
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_VAR = tmp_path
    world = make_world(tmp_path)
    generation = world.scan(partitions(3))
    _show_the_rest(world)
    strays = stray_findings(generation, owner="alice", db_owner="dora")
    fix = drawn_fix(strays, user=world.person("anna"), now=NOW)
    plan = world.plan()
    batch = _backup()
    enrollment = _enrollment(world)
    rule, request = _rule(world), _policy_request(world)
    values = {
        "run_id": _run("test.kind").pk,
        "shrunk_id": _shrunk_scan().pk,
        "plan_id": plan.pk,
        "plan_kind": "lifecycle.drop",
        "digest": plan.digest,
        "hold": _hold(world).public_id,
        "lake_name": LAKE,
        "db": "sales",
        "table": _iceberg().table,
        "listed_table": _listed(),
        "files_key": "files",
        "no_picture": "no-such-picture",
        "no_view": 999_999,
        "username": "eve",
        "wish_id": _wish(world),
        "rule_id": rule.pk,
        "rule_digest": rule.digest,
        "notice_id": _notice(),
        **mail_values(),
        "calendar_secret": calendar_address_make(world.person("eve"), lake=LAKE, now=NOW),
        "day": batch.day,
        "batch_id": batch.public_id,
        "drill_id": _restore_test(batch).public_id,
        "planned_table": "orders",
        "estimate_id": _run(
            "optimizer.index_estimate",
            subject_type="table",
            subject_id="sales.orders",
            params={"columns": ["id"], "queries_a_day": 10},
        ).pk,
        "prune_id": _run("optimizer.prune", params={"sql": "", "dialect": "", "max_files": 1}).pk,
        "preview_id": _run(PREVIEW_KIND, params={"batches": [str(batch.public_id)]}).pk,
        "dropped_id": _dropped().public_id,
        "alarm_id": _alarm().pk,
        "request_id": request.pk,
        "request_digest": request.digest,
        "enrolment_id": enrollment.pk,
        "enrol_digest": enrollment.digest,
        "fix_id": fix.pk,
        "fix_digest": fix.digest,
        "finding_id": strays[0].pk,
        "until": TODAY + timedelta(days=30),
        "waiver_id": _exception().public_id,
        "yes_id": _yes().public_id,
        "token_id": _token(world),
        **refresh_values(NOW),
        **ready_values(NOW),
        **optimizer_values(NOW),
        **pipelines_values(NOW),
        "cluster_name": _cluster().name,
    }
    return Target(world, values)


@pytest.fixture
def odd(tmp_path: Path, settings: Any, transactional_db: None) -> OddLake:
    """A lake whose every name is an attack."""
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    settings.LAKEWARDEN_VAR = tmp_path
    return odd_lake(tmp_path)


def _show_the_rest(world: World) -> None:
    """Add what the world's own picture leaves out: the database, and one item."""
    table = TableFinding.objects.get(db="sales", table="orders")
    DatabaseFinding.objects.create(
        generation=table.generation,
        lake=LAKE,
        db="sales",
        owner="dora",
        db_owner="dora",
        location="file:///lake/sales",
        mode="ACT",
    )
    SamplePartition.objects.create(
        table=table, part_id=1, partition="dt=2026-01-01", location="file:///x", cls="CLEAN_NOW"
    )


def _notice() -> UUID:
    return notice_queue(
        "test.kind",
        lake=LAKE,
        day=TODAY,
        recipient="alice",
        email="alice@example.org",
        mail=Mail("News", "Hello."),
        now=NOW,
    ).pk


def _dropped() -> DroppedObject:
    return DroppedObject.objects.create(
        lake=LAKE,
        event_id=7,
        dropped_at=NOW,
        dropped_by="eve",
        db="sales",
        table="old_orders",
        owner="alice",
    )


def _alarm() -> PolicyEvent:
    return PolicyEvent.objects.create(
        lake=LAKE,
        event_id=8,
        at=NOW,
        operation="ALTER_TABLE",
        db="sales",
        table="orders",
        owner="alice",
        actor="eve",
        outcome="WOULD_REFUSE",
        is_alarm=True,
    )


def _run(kind: str, **fields: Any) -> Run:
    return Run.objects.create(lake=LAKE, kind=kind, requested_by="alice", queued_at=NOW, **fields)


def _shrunk_scan() -> Run:
    """A scan that stopped because half of the lake was gone."""
    counts = {"databases": 4, "tables": 90, "partitions": 900}
    fields = {f"{what}_before": str(n) for what, n in counts.items()}
    fields |= {f"{what}_now": str(n // 3) for what, n in counts.items()}
    error = {"code": "scan.inventory_shrank", "message": "Half is gone.", "fields": fields}
    return _run("lifecycle.scan", queue="scan", state="FAILED", error=error)


def _hold(world: World) -> Hold:
    return hold_place(
        lake=LAKE,
        name=("sales", "other", ""),
        kind=HoldKind.LEGAL,
        until=None,
        reason="a case",
        user=world.person("anna"),
        now=NOW,
    )


def _policy_request(world: World) -> PolicyRequest:
    """An owner's request that waits for an admin."""
    wish = SetParams("sales", "orders", Values(1, 60), Values(0, 60), "for ever")
    return policy_set_request(LAKE, wish, user=world.person("alice"), now=NOW)


def _yes() -> DeletionConsent:
    """An owner's yes to recently read data."""
    return DeletionConsent.objects.create(
        lake=LAKE,
        db="sales",
        table="orders",
        tbl_id=1,
        until=timezone.now().date() + timedelta(days=9),
        reason="later",
        given_by="alice",
        given_at=NOW,
    )


def _token(world: World) -> UUID:
    """A token of alice's."""
    wish = TokenParams("nightly load", ("refresh",), 30)
    made = token_make("alice", wish, user=world.person("alice"), now=timezone.now())
    return made.token.public_id


def _exception() -> PathException:
    """An exception that stands as long as the clock's own day needs it."""
    request = PolicyRequest.objects.create(
        lake=LAKE,
        kind="WAIVE",
        db="sales",
        table="orders",
        rule="OWNER_PATH_FAIL",
        state="DONE",
        requested_by="alice",
        created_at=NOW,
        reason="later",
    )
    return PathException.objects.create(
        lake=LAKE,
        db="sales",
        table="orders",
        rule="OWNER_PATH_FAIL",
        justification="later",
        until=timezone.now().date() + timedelta(days=30),
        requested_by="alice",
        approved_by=["bert"],
        granted_at=NOW,
        request=request,
    )


def _enrollment(world: World) -> Enrollment:
    """An enrollment of a table outside lifecycle, asked for by anna."""
    orders = TableFinding.objects.get(db="sales", table="orders")
    TableFinding.objects.create(
        generation=orders.generation,
        lake=LAKE,
        db="sales",
        table="old",
        tbl_id=77,
        owner="alice",
        db_owner="dora",
        mode="ACT",
        table_type="MANAGED_TABLE",
    )
    wish = EnrollmentParams({"table": "old"}, Values(1, 60), n_tables=1, reason="old")
    return enrollment_request(LAKE, wish, user=world.person("anna"), now=NOW)


def _iceberg() -> IcebergTable:
    """Keep an Iceberg table of alice's, of which writers report."""
    return IcebergTable.objects.create(
        lake=LAKE, db="sales", table="orders", uuid="reported", owner="alice", event_at=NOW
    )


def _listed() -> str:
    """Let the catalog know an Iceberg table of alice's."""
    listed("listed", db="sales", owner="alice", format="iceberg")
    row = IcebergTable.objects.create(
        lake=LAKE, db="sales", table="listed", uuid="listed", owner="alice", event_at=NOW
    )
    return row.table


def _cluster() -> Cluster:
    """A cluster that was never read."""
    return Cluster.objects.create(
        name="unread",
        addresses=["127.0.0.1:1"],
        user="svc",
        password_file="/none/at/all",
        added_by="otto",
        added_at=NOW,
    )


def _wish(world: World) -> Any:
    wish = deletion_request(
        lake=LAKE,
        name=NAME,
        with_recently_read=False,
        reason="old",
        user=world.person("alice"),
        now=NOW,
    )
    return wish.pk


def _rule(world: World) -> Any:
    wish = RuleParams("sales", "orders", 9, 10**9, TODAY + timedelta(days=30), "daily")
    return standing_rule_request(LAKE, wish, user=world.person("anna"), now=NOW)


def _restore_test(batch: BackupBatch) -> RestoreTest:
    return RestoreTest.objects.create(
        lake=LAKE,
        run_id=_run("lifecycle.drill").pk,
        requested_by="schedule",
        started_at=NOW,
        finished_at=NOW,
        sample=[str(batch.public_id)],
    )


def _backup() -> BackupBatch:
    return BackupBatch.objects.create(
        lake=LAKE,
        run_id=_run("lifecycle.drop").pk,
        epoch=1,
        db="sales",
        table="orders",
        batch=1,
        day=TODAY,
        root="file:///backup",
        path="file:///backup/x",
        state=BackupState.DROPPED,
        is_table=False,
        table_owner="alice",
        n_items=1,
        manifest_sha256="0" * 64,
        dropped_at=NOW,
    )
