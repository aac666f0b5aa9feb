"""Stores a drawn-up plan as rows with totals, as a file with a digest, and asks two people.

Called in a worker by the run kind `lifecycle.plan`. Created twice, the second finds the plan past
DRAFTING and changes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Min, Q, Sum

from lifecycle.drop.domain.plan import TableDigest, plan_digest
from lifecycle.drop.domain.refusal import Candidate, Name, Names
from lifecycle.drop.domain.standing import Basis, TableShare
from lifecycle.drop.services.draft import Draft, Selection, TableExtras, draft
from lifecycle.drop.services.plans import PLANS, plan_audit, plan_move
from lifecycle.drop.services.standing_plans import standing_decision
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.selectors.picture import picture_problem
from lifecycle.models import (
    DeletionRequest,
    DropPlan,
    DropPlanExample,
    DropPlanPart,
    DropPlanTable,
    ItemKind,
    PlanState,
    ScanSnapshot,
    TableFinding,
)
from lifecycle.planning.selectors.inputs import (
    circumstances_of,
    current_generation,
    keep_days_now,
    limits_now,
    open_requests,
    plan_over_caps,
)
from lifecycle.planning.services.parties import requesters_of
from lifecycle.policies.services.deletion_consents import recently_read_names
from portal.access.lakes import get_lake
from portal.approvals.sizes import FEWEST_APPROVALS, Needed, plan_needed
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.clock import day_of
from portal.lake.counts import count_words
from portal.lake.errors import StaleState

DIRECTORY_MODE = 0o700
_CHUNK = 500


def plan_draw(plan: DropPlan, *, folder: str, now: datetime) -> dict[str, Any]:
    """Create a plan: its file under `<spool>/plans/<plan>/<folder>`, its rows, its approval.

    Ends as NOT_CREATED with a sentence when nothing may go, or when it is more than the caps allow.
    """
    if plan.state != PlanState.DRAFTING:
        return {"plan": str(plan.pk), "state": plan.state}
    config = get_lake(plan.lake)
    generation = current_generation(plan.lake)
    today = day_of(now, config.zone)
    drafted = draft(
        config,
        generation.results_uri,
        selection=Selection.from_json(plan.selection),
        circumstances=replace(
            circumstances_of(plan, generation, today=today, now=now),
            consent_to_recently_read=Names.of(recently_read_names(plan.lake, today=today)),
        ),
    )
    problem = _problem(plan, drafted, generation)
    if problem:
        _store_refused(plan, drafted, generation, problem=problem, now=now)
    else:
        uri = _write_items(config, plan, drafted, folder)
        plan_store(plan, drafted, generation, items_uri=uri, now=now)
    return {"plan": str(plan.pk), "state": plan.state, "items": drafted.summary.n_items}


def _problem(plan: DropPlan, drafted: Draft, generation: ScanSnapshot) -> str:
    if not drafted.summary.n_items:
        return (
            "Nothing of what was chosen may be dropped now. See below what was left out, and "
            "the reasons."
        )
    summary = drafted.summary
    over = plan_over_caps(plan.lake, generation, n_items=summary.n_items, n_bytes=summary.n_bytes)
    if over:
        return over
    return picture_problem(plan.lake, generation)


def _write_items(config: LakeConfig, plan: DropPlan, drafted: Draft, folder: str) -> str:
    directory = config.path(config.spool).child("plans", str(plan.pk), folder)
    fs = open_file_system(directory, config=config)
    fs.make_directories(directory, mode=DIRECTORY_MODE)
    path = directory.child("items.jsonl")
    # A worker that died here may have left a file; nobody has approved its digest.
    fs.replace(path, drafted.content)
    return str(path)


@transaction.atomic
def _store_refused(
    plan: DropPlan, drafted: Draft, generation: ScanSnapshot, *, problem: str, now: datetime
) -> None:
    plan_move(
        plan,
        PlanState.NOT_CREATED,
        now=now,
        by="system",
        reason=problem,
        generation=generation,
        left_out=dict(drafted.left_out),
    )
    plan_audit("refused", plan, actor="system", now=now, reason=problem)


def plan_store(
    plan: DropPlan, drafted: Draft, generation: ScanSnapshot, *, items_uri: str, now: datetime
) -> None:
    """Write tables, examples and sums, then in one short transaction the plan and the question."""
    _write_tables(plan, drafted, generation)
    plan_parts_write(plan)
    with transaction.atomic():
        _open(plan, drafted, generation, items_uri=items_uri, now=now)


def _open(
    plan: DropPlan, drafted: Draft, generation: ScanSnapshot, *, items_uri: str, now: datetime
) -> None:
    # Plan, requests, then what ends in the audit chain: as those do who withdraw either meanwhile.
    DropPlan.objects.select_for_update().get(pk=plan.pk)
    wishes = _answered_deletion_requests(plan, drafted)
    _close_deletion_requests(plan, wishes)
    names = {(table.db, table.table) for table in drafted.summary.tables}
    requesters = requesters_of(plan.lake, maker=plan.requested_by, tables=names, wishes=wishes)
    summary = drafted.summary
    terms: dict[str, Any] = {
        "backup_root": drafted.backup_root,
        "keep_days": keep_days_now(plan.lake, {db for db, _ in names}),
    }
    digest = plan_digest(summary.digest, **terms)
    fields: dict[str, Any] = {
        **terms,
        "generation": generation,
        "digest": digest,
        "items_uri": items_uri,
        "items_sha256": summary.digest,
        "n_tables": len(summary.tables),
        "n_items": summary.n_items,
        "n_bytes": summary.n_bytes,
        "n_files": summary.n_files,
        "oldest_at": instant(min(table.oldest_updated_ms for table in summary.tables)),
        "newest_at": instant(max(table.newest_updated_ms for table in summary.tables)),
        "left_out": dict(drafted.left_out),
        "limits": limits_now(plan.lake, generation),
        "requesters": requesters,
    }
    needed = plan_needed(plan.lake, n_items=summary.n_items, n_bytes=summary.n_bytes)
    reason = ""
    if plan.standing_rule is not None:
        reason = _uncovered_reason(plan, drafted, needed, requesters, now=now)
        if not reason:
            plan_move(plan, PlanState.APPROVED, now=now, **fields)
            plan_audit("covered", plan, actor="system", now=now, rule=plan.standing_rule_id)
            return
    approval = PLANS.open(
        plan,
        digest=digest,
        requesters=requesters,
        summary={
            "title": f"Drop {count_words(summary.n_items, 'item')} of "
            f"{count_words(len(summary.tables), 'table')}",
            "n_tables": len(summary.tables),
            "n_items": summary.n_items,
            "n_bytes": summary.n_bytes,
            "reason": plan.reason,
            "needed_why": needed.reason,
        },
        n_needed=needed.n,
        now=now,
    )
    plan_move(plan, PlanState.PENDING, now=now, approval=approval, **fields)
    if reason:
        # The reason of a move is that of an end; this is the plan's own.
        plan.reason = f"{plan.reason} Not covered by the rule: {reason}"
        plan.save(update_fields=["reason"])
    plan_audit("created", plan, actor=plan.requested_by, now=now, items=summary.n_items)


def _uncovered_reason(
    plan: DropPlan, drafted: Draft, needed: Needed, requesters: Sequence[str], *, now: datetime
) -> str:
    """Say why a standing rule's plan needs its own approval; empty when the rule covers it."""
    if needed.n > FEWEST_APPROVALS:
        return needed.reason
    known = [dropped_before(plan.lake, one.tbl_id) for one in drafted.extras.values()]
    decision = standing_decision(
        plan,
        _share(plan, drafted),
        dropped_before=all(known),
        requesters=requesters,
        now=now,
    )
    return "" if decision.covered else decision.reason


def _write_tables(plan: DropPlan, drafted: Draft, generation: ScanSnapshot) -> None:
    """Write one row a table with its examples; rows of a try that died are removed first."""
    plan.tables.all().delete()
    findings = {
        (row.db, row.table): row
        for row in TableFinding.objects.filter(
            generation=generation, db__in={table.db for table in drafted.summary.tables}
        )
    }
    for table in drafted.summary.tables:
        extras = drafted.extras[table.db, table.table]
        finding = findings.get((table.db, table.table))
        if finding is None or finding.tbl_id != extras.tbl_id:
            raise StaleState(
                "plan.picture", "A new scan finished while the plan was being created. Try again."
            )
        with transaction.atomic():
            row = _write_table(plan, table, extras, finding)
            DropPlanExample.objects.bulk_create(
                (_example(row, one) for one in extras.examples), batch_size=_CHUNK
            )


def _write_table(
    plan: DropPlan, table: TableDigest, extras: TableExtras, finding: TableFinding
) -> DropPlanTable:
    return DropPlanTable.objects.create(
        plan=plan,
        lake=plan.lake,
        db=table.db,
        table=table.table,
        tbl_id=extras.tbl_id,
        kind=ItemKind.TABLE if extras.is_whole_table else ItemKind.PARTITION,
        owner=finding.owner,
        db_owner=finding.db_owner,
        n_items=table.n_items,
        n_bytes=table.n_bytes,
        n_files=table.n_files,
        n_still_read=extras.n_still_read,
        oldest_at=instant(table.oldest_updated_ms),
        newest_at=instant(table.newest_updated_ms),
        is_first_drop=not dropped_before(plan.lake, extras.tbl_id),
        digest=table.digest,
    )


def _example(row: DropPlanTable, candidate: Candidate) -> DropPlanExample:
    item = candidate.item
    return DropPlanExample(
        plan_table=row,
        partition=item.partition,
        location=item.location,
        updated_at=instant(item.updated_ms),
        due_on=item.due_on,
        n_bytes=item.n_bytes,
        n_files=item.n_files,
        is_still_read=candidate.cls is ExpiryClass.STILL_READ,
    )


def _share(plan: DropPlan, drafted: Draft) -> TableShare:
    """Return what a standing rule's plan takes of its only table."""
    (table,) = drafted.summary.tables
    extras = drafted.extras[table.db, table.table]
    basis = Basis(extras.level, extras.ttl, plan.tables.get().owner)
    return TableShare(extras.tbl_id, basis, table.n_items, table.n_bytes, extras.n_still_read)


def dropped_before(lake: str, tbl_id: int) -> bool:
    """Whether an explicitly approved drop of this very table has succeeded."""
    return DropPlanTable.objects.filter(
        lake=lake, tbl_id=tbl_id, plan__state=PlanState.DONE, plan__approval__isnull=False
    ).exists()


def _answered_deletion_requests(plan: DropPlan, drafted: Draft) -> list[DeletionRequest]:
    tables = {Name(table.db, table.table) for table in drafted.summary.tables}
    return [wish for wish in open_requests(plan.lake) if Name(wish.db, wish.table) in tables]


def _close_deletion_requests(plan: DropPlan, wishes: Iterable[DeletionRequest]) -> None:
    keys = [wish.pk for wish in wishes]
    DeletionRequest.objects.filter(pk__in=keys, state=DeletionRequest.State.OPEN).update(
        state=DeletionRequest.State.PLANNED, plan=plan
    )


def instant(milliseconds: int) -> datetime:
    """Return the UTC instant of epoch milliseconds."""
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


_KEYS = ("db", "owner", "db_owner")
_SUMS: dict[str, Any] = {
    "of_n_tables": Count("pk"),
    "of_n_first": Count("pk", filter=Q(is_first_drop=True)),
    **{f"of_{name}": Sum(name) for name in ("n_items", "n_bytes", "n_files", "n_still_read")},
    "of_oldest_at": Min("oldest_at"),
    "of_newest_at": Max("newest_at"),
}


@transaction.atomic
def plan_parts_write(plan: DropPlan) -> int:
    """Write the sums of a plan's tables; written again they are the same. Gives how many rows."""
    tables = plan.tables.order_by()
    rows: list[dict[str, Any]] = list(tables.values(*_KEYS).annotate(**_SUMS))
    if rows:
        rows.append(tables.aggregate(**_SUMS))
    plan.parts.all().delete()
    DropPlanPart.objects.bulk_create(
        [
            DropPlanPart(
                plan=plan, lake=plan.lake, **{key.removeprefix("of_"): row[key] for key in row}
            )
            for row in rows
        ],
        batch_size=_CHUNK,
    )
    return len(rows)
