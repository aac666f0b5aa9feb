"""A lake whose every name is an attack, as a scan would bring it: scanned, planned, backed up.

One table a text has it as its name, owner, place and hint; `sales.orders` has a partition a text.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.db.models import CharField
from django.test import Client
from django.utils import timezone

from lifecycle.backup.domain.layout import done_name, intent_name
from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.engine.journal.records import BatchDone, BatchIntent, ItemDone, Outcome
from lifecycle.backup.models import BackupBatch, BackupProbe, Hold
from lifecycle.backup.services.totals import backup_totals_refresh
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import DropPlan, PolicyEvent
from lifecycle.restore.services.backups import backup_items_request
from portal.access.lakes import get_lake
from portal.audit.services import AuditEntry, audit_record_many
from portal.connectors.metastore import to_json
from portal.lake.names import PartitionName
from portal.runs.models import Run
from portal.runs.records.logs import Line, run_log_many
from portal.runs.requests.services import run_drive
from tests.component.lifecycle import backup_world, plan_world
from tests.component.lifecycle.plan_world import LAKE, NOW, World, make_world
from tests.component.lifecycle.scanned import scan
from tests.security.corpora import TEXTS
from tests.support.scan_results import Finding, Item, Picture, Table

CLEAN_NOW, SOON, NONCONFORMING = (
    ExpiryClass.CLEAN_NOW,
    ExpiryClass.SOON,
    ExpiryClass.NONCONFORMING,
)
OLD = NOW.replace(month=8, day=1)
LONGEST = 128
AUDITED = "odd.name"
# What the metastore's columns hold of a text, and no two of them alike.
NAMES = {name: text[:LONGEST] for name, text in TEXTS.items()}
PARTITIONS = {name: str(PartitionName(("dt",), (text[:LONGEST],))) for name, text in TEXTS.items()}


@dataclass(frozen=True)
class OddLake:
    """The lake, with the plan and the backup of `sales.orders`."""

    world: World
    plan: DropPlan
    batch: BackupBatch
    run: Run

    def client(self, who: str) -> Client:
        """Return a freshly signed-in client."""
        client = Client(raise_request_exception=False)
        client.force_login(self.world.person(who))
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
        return client


def odd_lake(root: Path) -> OddLake:
    """Scan the lake, draw a plan up, back it up, and have people and processes speak of it."""
    world = make_world(root)
    scan(get_lake(LAKE), picture(), now=NOW)
    orders = plan_world.Item(tbl_id=1)
    world.announce(orders)
    plan = world.plan()
    batch = _backed_up(root)
    run_drive(backup_items_request(batch.public_id, user=world.person("alice"), now=NOW).pk)
    return OddLake(world, plan, batch, _spoken_of())


def picture() -> Picture:
    """Return what a scan saw."""
    due = tuple(
        Item(NONCONFORMING if "\x00" in part else CLEAN_NOW, part, OLD)
        for part in PARTITIONS.values()
    )
    orders = Table("sales", "orders", 1, owner="alice", items=due)
    soon = Item(SOON, "dt=1", NOW.replace(month=9, day=24))
    odd = tuple(
        Table("sales", name, n, owner=TEXTS[key], items=(soon,))
        for n, (key, name) in enumerate(NAMES.items(), start=100)
    )
    findings = tuple(
        Finding("PARTITION", "sales", name, part=part, hint=TEXTS[key], related=(TEXTS[key],))
        for (key, name), part in zip(NAMES.items(), PARTITIONS.values(), strict=True)
    )
    whole = Picture({"sales": "dora"}, (orders, *odd), findings, read_at=NOW)
    return replace(whole, extra={"n_partitions": 100_000})


def _spoken_of() -> Run:
    """Have each text in a hold, the audit record, an alarm, a run's words and its log."""
    run = Run.objects.create(lake=LAKE, kind="test.kind", requested_by="alice", queued_at=NOW)
    Hold.objects.bulk_create(
        Hold(
            **{"lake": LAKE, "db": "sales", "table": NAMES[name], "partition": PARTITIONS[name]},
            **{"kind": HoldKind.LEGAL, "placed_by": "anna", "placed_at": NOW},
            reason=f"because {text}",
        )
        for name, text in TEXTS.items()
    )
    audit_record_many(
        [
            AuditEntry(AUDITED, "bert", LAKE, "table", text, {"text": text, text: "key"})
            for text in TEXTS.values()
        ],
        now=NOW,
    )
    run_log_many(run, [Line("error", text) for text in TEXTS.values()], now=NOW)
    _alarms()
    return run


def _alarms() -> None:
    PolicyEvent.objects.bulk_create(
        PolicyEvent(
            lake=LAKE,
            event_id=n,
            at=NOW,
            operation="ALTER_TABLE",
            db="sales",
            table=name,
            new_name=name,
            owner=name,
            actor=name,
            outcome="WOULD_REFUSE",
            is_alarm=True,
            before={"TTL": name},
            after={"TTL": name},
        )
        for n, name in enumerate(NAMES.values(), start=1)
    )


def _backed_up(root: Path) -> BackupBatch:
    """Make the backup of every partition of `sales.orders`: files and row."""
    run = uuid4()
    directory = root / "backup" / str(NOW.date()) / "sealed" / str(run) / "1"
    directory.mkdir(parents=True)
    items = tuple(backup_world.item(n, part) for n, part in enumerate(PARTITIONS.values(), start=1))
    table, at = to_json(backup_world.table()), NOW.isoformat()
    who = (str(run), 1, 1, LAKE, "sales", "orders", "alice", "", "d", at, 15)
    intent = BatchIntent(*who, table, items)
    dropped = tuple(ItemDone(one.item, one.partition, Outcome.DROPPED) for one in items)
    done = BatchDone(str(run), 1, 1, at, "driver", dropped)
    (directory / intent_name(1)).write_bytes(intent.to_bytes())
    (directory / done_name(1)).write_bytes(done.to_bytes())
    names = sorted(PARTITIONS.values())
    values: dict[str, Any] = {
        **{"lake": LAKE, "run_id": run, "epoch": 1, "db": "sales", "table": "orders", "batch": 1},
        **{"day": NOW.date(), "root": (root / "backup").as_uri(), "path": directory.as_uri()},
        **{"state": "DROPPED", "is_table": False, "table_owner": "alice", "n_items": len(items)},
        **{"n_bytes": 150, "n_files": 2, "first_partition": names[0], "last_partition": names[-1]},
        **{"manifest_sha256": hashlib.sha256(intent.to_bytes()).hexdigest(), "dropped_at": NOW},
        "purge_after": timezone.now() + timedelta(days=15),
    }
    batch = BackupBatch.objects.create(**values)
    BackupProbe.objects.create(batch=batch, delay_seconds=0, due_at=NOW, state="CLEAN")
    backup_totals_refresh(batch.lake, [batch.day])
    return batch


def too_long() -> list[str]:
    """Name what stands in a column so that MariaDB would refuse it; SQLite takes any length."""
    return [
        f"{model.__name__}.{field.name}"
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, CharField) and field.max_length
        for text in model._default_manager.values_list(field.name, flat=True)
        if text is not None and len(str(text)) > field.max_length
    ]
