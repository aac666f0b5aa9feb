"""How is a restore drill asked for, what sample does it take, and what becomes of what it found?

One drill at a time per lake. What it found is kept per item; per database stands when restoring
was last proven and when it was last found wanting.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Min, Sum

from lifecycle.domain.drills import BackedUp, Compared, DrillState, choose_tables, drill_state, lot
from lifecycle.models import DatabaseProof, DrillItem, RestoreDrill
from lifecycle.selectors.drills import drill_run, known_contents, tables_proven
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.act.models import BackupBatch, BackupTotals
from portal.act.selectors import RESTORABLE, red_button_state
from portal.audit.services import audit_record
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, StaleState
from portal.runs.models import Run
from portal.runs.services import run_request

KIND = "lifecycle.drill"
# Among so many of a table's batches the lot is drawn.
BATCHES_SEEN = 500


@transaction.atomic
def drill_request(lake: str, *, user: User, reason: str = "", now: datetime) -> RestoreDrill:
    """Ask for a drill now; while one is under way it gives that one.

    Raises:
        NotAllowed: `drill.role` for anyone but an admin or operator.
        StaleState: `red_button.on`, or `drill.nothing` where no backup can be restored.
    """
    if not user.is_lake_keeper:
        raise NotAllowed("drill.role", "Only an admin or an operator starts a drill; ask one.")
    under_way = drill_under_way(lake, now=now)
    if under_way is not None:
        return under_way
    if red_button_state(lake) is not None:
        raise StaleState("red_button.on", "The red button is on: no drill until it is released.")
    if not _has_backups(lake):
        raise StaleState("drill.nothing", "No backup can be restored just now: nothing to drill.")
    run = run_request(
        KIND,
        lake=lake,
        params={"now": now.isoformat()},
        requested_by=user.username,
        reason=reason.strip() or "Drill now.",
        unique_key=f"drill:{lake}:after:{RestoreDrill.objects.filter(lake=lake).count()}",
        now=now,
    )
    return drill_begin(run, now=now)


def drill_under_way(lake: str, *, now: datetime) -> RestoreDrill | None:
    """Give the drill that has not ended; one whose run is over without a word is closed first."""
    drill = RestoreDrill.objects.filter(lake=lake, finished_at=None).first()
    if drill is None:
        return None
    run = drill_run(drill)
    if run is not None and not run.is_final:
        return drill
    _close(drill, DrillState.INCOMPLETE, why="Its run ended before it began.", now=now)
    return None


def drill_last_begun(lake: str) -> datetime | None:
    """Give when the newest drill began, whoever asked for it; one that proved nothing is none."""
    drills = RestoreDrill.objects.filter(lake=lake).exclude(state=DrillState.INCOMPLETE)
    newest = drills.order_by("-started_at").first()
    return newest.started_at if newest else None


def drill_wanted(lake: str, *, now: datetime) -> bool:
    """Whether a drill by the clock makes sense now: nothing stops it, and there is a backup."""
    return (
        red_button_state(lake) is None
        and drill_under_way(lake, now=now) is None
        and _has_backups(lake)
    )


def drill_begin(run: Run, *, now: datetime) -> RestoreDrill:
    """Note the drill of a run with the sample that it takes; called again it gives the same.

    Raises:
        StaleState: `drill.busy`, another drill of this lake is under way.
    """
    known = RestoreDrill.objects.filter(run_id=run.pk).first()
    if known is not None:
        return known
    try:
        with transaction.atomic():
            drill = RestoreDrill.objects.create(
                lake=run.lake,
                run_id=run.pk,
                open_key=uuid5(NAMESPACE_URL, f"drill:{run.lake}"),
                requested_by=run.requested_by,
                started_at=now,
                sample=_sample(run.lake, now=now),
            )
            proofs_count(run.lake)
            _audit(drill, "drill.begun", actor=run.requested_by, sample=len(drill.sample), now=now)
    except IntegrityError:
        known = RestoreDrill.objects.filter(run_id=run.pk).first()
        if known is None:
            raise StaleState("drill.busy", "Another drill of this lake is under way.") from None
        return known
    return drill


def drill_params(drill: RestoreDrill) -> dict[str, Any]:
    """Give the job what it needs: the drawn batches as the catalogue has them now."""
    config = get_lake(drill.lake)
    rows = {
        str(row.public_id): row
        for row in BackupBatch.objects.filter(public_id__in=drill.sample, state__in=RESTORABLE)
    }
    known = known_contents(drill.lake, [UUID(name) for name in rows])
    chosen = [rows[name] for name in drill.sample if name in rows]
    most = max(1, settings.LAKEWARDEN_DRILL_MAX_ITEMS // max(1, len(chosen)))
    roots = BackupBatch.objects.filter(lake=drill.lake).values_list("root", flat=True)
    others = RestoreDrill.objects.filter(lake=drill.lake, finished_at=None).exclude(pk=drill.pk)
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
        "day": day_of(drill.started_at, config.zone).isoformat(),
        "max_bytes": settings.LAKEWARDEN_DRILL_MAX_BYTES,
        "roots": sorted({*roots.order_by().distinct()}),
        "under_way": [str(pk) for pk in others.values_list("run_id", flat=True)],
    }


@transaction.atomic
def drill_ingest(run: Run, manifest: Mapping[str, Any], *, now: datetime) -> RestoreDrill | None:
    """Keep what a drill found, and bring its databases' proofs up to date; repeated, the same."""
    drill = RestoreDrill.objects.select_for_update().filter(run_id=run.pk).first()
    if drill is None or drill.finished_at is not None:
        return drill
    result = manifest.get("result") or {}
    items = _keep(drill, result.get("items") or (), now=now)
    is_whole = manifest["outcome"] == "done"
    drill.is_clean = bool(result.get("is_clean"))
    why = "" if is_whole else _why(manifest)
    state = drill_state((Compared(one.outcome) for one in items), is_whole=is_whole)
    if state is DrillState.INCOMPLETE and is_whole:
        why = "Nothing could be compared; see why each item was left out."
    _close(drill, state, why=why, now=now)
    if result.get("cleared") or drill.is_clean:
        # A drill clears what earlier ones left before it does anything else.
        earlier = RestoreDrill.objects.filter(lake=drill.lake, is_clean=False)
        earlier.exclude(finished_at=None).filter(started_at__lt=drill.started_at).update(
            is_clean=True
        )
    _prove(drill, items, now=now)
    proofs_count(drill.lake)
    return drill


def proofs_count(lake: str) -> None:
    """Count anew what lies in each database's backups; what has none any more keeps its proofs."""
    rows = BackupTotals.objects.filter(lake=lake).exclude(db="").order_by().values("db")
    sums = rows.annotate(since=Min("day"), left=Sum("n_restorable"), size=Sum("restorable_bytes"))
    counted: dict[str, Mapping[str, Any]] = {row["db"]: row for row in sums.filter(left__gt=0)}
    known = {row.db: row for row in DatabaseProof.objects.filter(lake=lake)}
    new, changed = [], []
    for db in sorted(counted.keys() | known.keys()):
        row = known.get(db) or DatabaseProof(lake=lake, db=db)
        was = (row.backed_up_since, row.n_restorable, row.n_bytes)
        _count(row, counted.get(db))
        if db not in known:
            new.append(row)
        elif was != (row.backed_up_since, row.n_restorable, row.n_bytes):
            changed.append(row)
    DatabaseProof.objects.bulk_create(new, batch_size=500, ignore_conflicts=True)
    fields = ["backed_up_since", "n_restorable", "n_bytes"]
    DatabaseProof.objects.bulk_update(changed, fields, batch_size=500)


def _count(row: DatabaseProof, sums: Mapping[str, Any] | None) -> None:
    row.n_restorable = sums["left"] if sums else 0
    row.n_bytes = (sums["size"] or 0) if sums else 0
    if sums:
        row.backed_up_since = sums["since"]


def _has_backups(lake: str) -> bool:
    return BackupBatch.objects.filter(lake=lake, state__in=RESTORABLE).exists()


def _sample(lake: str, *, now: datetime) -> list[str]:
    """Draw batches: the database unproven longest first, then the table, then by lot."""
    day = day_of(now, get_lake(lake).zone)
    left = BackupTotals.objects.filter(lake=lake, n_restorable__gt=0).exclude(db="")
    names = left.order_by().values_list("db", "table").distinct()
    tables = choose_tables(
        (BackedUp(db, table) for db, table in names),
        proven=tables_proven(lake),
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


def _keep(drill: RestoreDrill, found: Any, *, now: datetime) -> list[DrillItem]:
    rows = {
        str(row.public_id): row for row in BackupBatch.objects.filter(public_id__in=drill.sample)
    }
    items = [
        DrillItem(
            drill=drill,
            lake=drill.lake,
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
    return DrillItem.objects.bulk_create(items, batch_size=500)


_AS_FOUND = (
    *("item", "partition", "format", "outcome", "n_files", "n_bytes", "n_rows", "content"),
    *("differences", "remarks"),
)


def _why(manifest: Mapping[str, Any]) -> str:
    error = manifest.get("error") or {}
    return str(error.get("message") or f"The run ended as {manifest['outcome']}.")


def _close(drill: RestoreDrill, state: DrillState, *, why: str, now: datetime) -> None:
    outcomes = list(drill.items.values_list("outcome", "n_bytes", "n_rows"))
    drill.n_items = len(outcomes)
    drill.n_proven = sum(one[0] == Compared.PROVEN for one in outcomes)
    drill.n_differing = sum(one[0] == Compared.DIFFERS for one in outcomes)
    drill.n_skipped = sum(one[0] == Compared.SKIPPED for one in outcomes)
    drill.n_bytes = sum(one[1] for one in outcomes)
    drill.n_rows = sum(one[2] or 0 for one in outcomes)
    drill.state, drill.why, drill.finished_at = state, why, now
    drill.open_key = None
    drill.save()
    counts = {name: getattr(drill, name) for name in ("n_proven", "n_differing", "n_skipped")}
    _audit(drill, "drill.ended", actor="system", state=str(state), why=why, now=now, **counts)


def _prove(drill: RestoreDrill, items: list[DrillItem], *, now: datetime) -> None:
    """A database is proven by a drill that restored some of it and found nothing wrong in it."""
    outcomes: dict[str, set[str]] = {}
    for item in items:
        outcomes.setdefault(item.db, set()).add(str(item.outcome))
    for db, seen in sorted(outcomes.items()):
        changes: dict[str, Any] = {}
        if Compared.DIFFERS in seen:
            changes = {"failed_at": now, "failed_by": drill}
        elif Compared.PROVEN in seen:
            changes = {"proven_at": now, "proven_by": drill}
        if changes:
            DatabaseProof.objects.update_or_create(lake=drill.lake, db=db, defaults=changes)


def _audit(drill: RestoreDrill, action: str, *, actor: str, now: datetime, **data: object) -> None:
    audit_record(
        action,
        actor=actor,
        lake=drill.lake,
        object_type="drill",
        object_id=str(drill.public_id),
        data={"run": str(drill.run_id), **data},
        now=now,
    )


def drill_every() -> timedelta:
    """Give how long after one drill the next is due."""
    return timedelta(days=settings.LAKEWARDEN_DRILL_EVERY_DAYS)
