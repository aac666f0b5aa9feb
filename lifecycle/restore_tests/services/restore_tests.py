"""Requests restore tests, decides when one begins, and takes its sample.

One restore test at a time per lake. What becomes of what it found stands in `drill_results`.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.conf import settings
from django.db import IntegrityError, transaction

from lifecycle.backup.models import BackupBatch, BackupTotals
from lifecycle.backup.selectors import RESTORABLE
from lifecycle.models import RestoreTest
from lifecycle.restore_tests.domain import BackedUp, RestoreTestState, choose_tables, lot
from lifecycle.restore_tests.selectors import known_contents, restore_test_run, verified_tables
from lifecycle.restore_tests.services.results import (
    restore_test_audit,
    restore_test_close,
    verifications_count,
)
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, StaleState
from portal.lake.reasons import check_text
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from portal.safety.selectors import emergency_stop_state

KIND = "lifecycle.drill"
# Among so many of a table's batches the lot is drawn.
BATCHES_SEEN = 500


@transaction.atomic
def restore_test_request(lake: str, *, user: User, reason: str = "", now: datetime) -> RestoreTest:
    """Ask for a restore test now; while one is under way it gives that one.

    Raises:
        NotAllowed: `drill.role` for anyone but an admin or operator.
        StaleState: `red_button.on`, or `drill.nothing` where no backup can be restored.
    """
    if not user.is_lake_staff_of(lake):
        raise NotAllowed(
            "drill.role", "Only an admin or an operator starts a restore test; ask one."
        )
    check_text(reason)
    under_way = restore_test_under_way(lake, now=now)
    if under_way is not None:
        return under_way
    if emergency_stop_state(lake) is not None:
        raise StaleState(
            "red_button.on", "The emergency stop is on: no restore test starts until it ends."
        )
    if not _has_backups(lake):
        raise StaleState("drill.nothing", "No backup can be restored just now: nothing to test.")
    run = run_request(
        KIND,
        lake=lake,
        params={"now": now.isoformat()},
        requested_by=user.username,
        reason=reason.strip() or "Start a restore test.",
        unique_key=f"drill:{lake}:after:{RestoreTest.objects.filter(lake=lake).count()}",
        now=now,
    )
    return restore_test_begin(run, now=now)


def restore_test_under_way(lake: str, *, now: datetime) -> RestoreTest | None:
    """Return the restore test that has not ended.

    One whose run is over without a word is closed first.
    """
    restore_test = RestoreTest.objects.filter(lake=lake, finished_at=None).first()
    if restore_test is None:
        return None
    run = restore_test_run(restore_test)
    if run is not None and not run.is_final:
        return restore_test
    restore_test_close(
        restore_test, RestoreTestState.INCOMPLETE, reason="Its run ended before it began.", now=now
    )
    return None


def restore_test_last_begun(lake: str) -> datetime | None:
    """Return when the newest restore test began, whoever asked for it.

    One that proved nothing is none.
    """
    restore_tests = RestoreTest.objects.filter(lake=lake).exclude(state=RestoreTestState.INCOMPLETE)
    newest = restore_tests.order_by("-started_at").first()
    return newest.started_at if newest else None


def restore_test_wanted(lake: str, *, now: datetime) -> bool:
    """Whether a restore test by the clock makes sense now.

    Nothing stops it, and there is a backup.
    """
    return (
        emergency_stop_state(lake) is None
        and restore_test_under_way(lake, now=now) is None
        and _has_backups(lake)
    )


def restore_test_every() -> timedelta:
    """Return how long after one restore test the next is due."""
    return timedelta(days=settings.LAKEWARDEN_DRILL_EVERY_DAYS)


def restore_test_begin(run: Run, *, now: datetime) -> RestoreTest:
    """Note the restore test of a run with the sample that it takes; called again it gives the same.

    Raises:
        StaleState: `drill.busy`, another restore test of this lake is under way.
    """
    known = RestoreTest.objects.filter(run_id=run.pk).first()
    if known is not None:
        return known
    try:
        with transaction.atomic():
            restore_test = RestoreTest.objects.create(
                lake=run.lake,
                run_id=run.pk,
                open_key=uuid5(NAMESPACE_URL, f"drill:{run.lake}"),
                requested_by=run.requested_by,
                started_at=now,
                sample=_sample(run.lake, now=now),
            )
            verifications_count(run.lake)
            n_drawn = len(restore_test.sample)
            restore_test_audit(
                restore_test, "drill.begun", actor=run.requested_by, sample=n_drawn, now=now
            )
    except IntegrityError:
        known = RestoreTest.objects.filter(run_id=run.pk).first()
        if known is None:
            raise StaleState(
                "drill.busy", "Another restore test of this lake is under way."
            ) from None
        return known
    return restore_test


def restore_test_params(restore_test: RestoreTest) -> dict[str, Any]:
    """Return the job what it needs: the drawn batches as the catalogue has them now."""
    config = get_lake(restore_test.lake)
    rows = {
        str(row.public_id): row
        for row in BackupBatch.objects.filter(
            public_id__in=restore_test.sample, state__in=RESTORABLE
        )
    }
    known = known_contents(restore_test.lake, [UUID(name) for name in rows])
    chosen = [rows[name] for name in restore_test.sample if name in rows]
    most = max(1, settings.LAKEWARDEN_DRILL_MAX_ITEMS // max(1, len(chosen)))
    roots = BackupBatch.objects.filter(lake=restore_test.lake).values_list("root", flat=True)
    others = RestoreTest.objects.filter(lake=restore_test.lake, finished_at=None).exclude(
        pk=restore_test.pk
    )
    return {
        "batches": [
            {
                "id": str(row.public_id),
                **{name: getattr(row, name) for name in ("db", "table", "path", "root", "batch")},
                "sha256": row.manifest_sha256,
                "most": min(most, 3),
                "known": known.get(str(row.public_id), {}),
            }
            for row in chosen
        ],
        "day": day_of(restore_test.started_at, config.zone).isoformat(),
        "max_bytes": settings.LAKEWARDEN_DRILL_MAX_BYTES,
        "roots": sorted({*roots.order_by().distinct()}),
        "under_way": [str(pk) for pk in others.values_list("run_id", flat=True)],
    }


def _has_backups(lake: str) -> bool:
    return BackupBatch.objects.filter(lake=lake, state__in=RESTORABLE).exists()


def _sample(lake: str, *, now: datetime) -> list[str]:
    """Draw batches: the database unproven longest first, then the table, then by lot."""
    day = day_of(now, get_lake(lake).zone)
    left = BackupTotals.objects.filter(lake=lake, n_restorable__gt=0).exclude(db="")
    names = left.order_by().values_list("db", "table").distinct()
    tables = choose_tables(
        (BackedUp(db, table) for db, table in names),
        proven=verified_tables(lake),
        day=day,
        most=settings.LAKEWARDEN_DRILL_MAX_ITEMS,
    )
    drawn = []
    for one in tables:
        rows = BackupBatch.objects.filter(
            lake=lake, db=one.db, table=one.table, state__in=RESTORABLE
        ).order_by("-id")
        ids = [str(pk) for pk in rows.values_list("public_id", flat=True)[:BATCHES_SEEN]]
        if ids:
            drawn.append(min(ids, key=lambda name: lot(day, name)))
    return drawn
