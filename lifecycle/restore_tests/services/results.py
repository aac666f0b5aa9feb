"""Records a restore test's results: its items, its end, and the proofs of its databases.

What it found is kept per item; per database stands when restoring was last proven and when it was
last found wanting.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Min, Sum

from lifecycle.backup.models import BackupBatch, BackupTotals
from lifecycle.models import RestoreTest, RestoreTestItem, RestoreVerification
from lifecycle.restore_tests.domain import Compared, RestoreTestState, restore_test_state
from portal.audit.services import audit_record
from portal.runs.models import Run

_AS_FOUND = (
    *("item", "partition", "format", "outcome", "n_files", "n_bytes", "n_rows", "content"),
    *("differences", "remarks"),
)


@transaction.atomic
def restore_test_ingest(
    run: Run, manifest: Mapping[str, Any], *, now: datetime
) -> RestoreTest | None:
    """Keep what a restore test found, and bring its databases' proofs up to date.

    Repeated, the same.
    """
    restore_test = RestoreTest.objects.select_for_update().filter(run_id=run.pk).first()
    if restore_test is None or restore_test.finished_at is not None:
        return restore_test
    result = manifest.get("result") or {}
    items = _keep(restore_test, result.get("items") or (), now=now)
    is_whole = manifest["outcome"] == "done"
    restore_test.is_clean = bool(result.get("is_clean"))
    reason = "" if is_whole else _why(manifest)
    state = restore_test_state((Compared(one.outcome) for one in items), is_whole=is_whole)
    if state is RestoreTestState.INCOMPLETE and is_whole:
        reason = "Nothing could be compared; see why each item was left out."
    restore_test_close(restore_test, state, reason=reason, now=now)
    if result.get("cleared") or restore_test.is_clean:
        # A restore test clears what earlier ones left before it does anything else.
        earlier = RestoreTest.objects.filter(lake=restore_test.lake, is_clean=False)
        earlier.exclude(finished_at=None).filter(started_at__lt=restore_test.started_at).update(
            is_clean=True
        )
    _prove(restore_test, items, now=now)
    verifications_count(restore_test.lake)
    return restore_test


def restore_test_close(
    restore_test: RestoreTest, state: RestoreTestState, *, reason: str, now: datetime
) -> None:
    """End a restore test as `state`, with the sums of its items.

    Each call is one event of the record.
    """
    outcomes = list(restore_test.items.values_list("outcome", "n_bytes", "n_rows"))
    restore_test.n_items = len(outcomes)
    restore_test.n_verified = sum(one[0] == Compared.PROVEN for one in outcomes)
    restore_test.n_differing = sum(one[0] == Compared.DIFFERS for one in outcomes)
    restore_test.n_skipped = sum(one[0] == Compared.SKIPPED for one in outcomes)
    restore_test.n_bytes = sum(one[1] for one in outcomes)
    restore_test.n_rows = sum(one[2] or 0 for one in outcomes)
    restore_test.state, restore_test.reason, restore_test.finished_at = state, reason, now
    restore_test.open_key = None
    restore_test.save()
    counts = {
        name: getattr(restore_test, name) for name in ("n_verified", "n_differing", "n_skipped")
    }
    restore_test_audit(
        restore_test,
        "drill.ended",
        actor="system",
        state=str(state),
        reason=reason,
        now=now,
        **counts,
    )


def verifications_count(lake: str) -> None:
    """Count again what lies in each database's backups; what has none any more keeps its proofs."""
    rows = BackupTotals.objects.filter(lake=lake).exclude(db="").order_by().values("db")
    sums = rows.annotate(since=Min("day"), left=Sum("n_restorable"), size=Sum("restorable_bytes"))
    counted: dict[str, Mapping[str, Any]] = {row["db"]: row for row in sums.filter(left__gt=0)}
    known = {row.db: row for row in RestoreVerification.objects.filter(lake=lake)}
    new, changed = [], []
    for db in sorted(counted.keys() | known.keys()):
        row = known.get(db) or RestoreVerification(lake=lake, db=db)
        was = (row.backed_up_since, row.n_restorable, row.n_bytes)
        _count(row, counted.get(db))
        if db not in known:
            new.append(row)
        elif was != (row.backed_up_since, row.n_restorable, row.n_bytes):
            changed.append(row)
    RestoreVerification.objects.bulk_create(new, batch_size=500, ignore_conflicts=True)
    fields = ["backed_up_since", "n_restorable", "n_bytes"]
    RestoreVerification.objects.bulk_update(changed, fields, batch_size=500)


def _count(row: RestoreVerification, sums: Mapping[str, Any] | None) -> None:
    row.n_restorable = sums["left"] if sums else 0
    row.n_bytes = (sums["size"] or 0) if sums else 0
    if sums:
        row.backed_up_since = sums["since"]


def restore_test_audit(
    restore_test: RestoreTest, action: str, *, actor: str, now: datetime, **data: object
) -> None:
    """Seal what a restore test did into the audit record."""
    audit_record(
        action,
        actor=actor,
        lake=restore_test.lake,
        object_type="drill",
        object_id=str(restore_test.public_id),
        data={"run": str(restore_test.run_id), **data},
        now=now,
    )


def _keep(restore_test: RestoreTest, found: Any, *, now: datetime) -> list[RestoreTestItem]:
    rows = {
        str(row.public_id): row
        for row in BackupBatch.objects.filter(public_id__in=restore_test.sample)
    }
    items = [
        RestoreTestItem(
            restore_test=restore_test,
            lake=restore_test.lake,
            batch_id=row.public_id,
            day=row.day,
            db=row.db,
            table=row.table,
            table_owner=row.table_owner,
            checked_at=now,
            **{name: one[name] for name in _AS_FOUND},
        )
        for one in found
        if (row := rows.get(one["batch"])) is not None
    ]
    return RestoreTestItem.objects.bulk_create(items, batch_size=500)


def _why(manifest: Mapping[str, Any]) -> str:
    error = manifest.get("error") or {}
    return str(error.get("message") or f"The run ended as {manifest['outcome']}.")


def _prove(restore_test: RestoreTest, items: list[RestoreTestItem], *, now: datetime) -> None:
    """A database is verified by a restore test that restored some of it and found no fault."""
    outcomes: dict[str, set[str]] = {}
    for item in items:
        outcomes.setdefault(item.db, set()).add(str(item.outcome))
    for db, seen in sorted(outcomes.items()):
        changes: dict[str, Any] = {}
        if Compared.DIFFERS in seen:
            changes = {"failed_at": now, "failed_by": restore_test}
        elif Compared.PROVEN in seen:
            changes = {"verified_at": now, "proven_by": restore_test}
        if changes:
            RestoreVerification.objects.update_or_create(
                lake=restore_test.lake, db=db, defaults=changes
            )
