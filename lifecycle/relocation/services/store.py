"""Stores a drawn-up relocation plan as rows, a file with a digest, and an approval request to two.

Called in a worker by the run kind `lifecycle.path_fix_plan`. Created twice, the second finds the
plan past DRAFTING and changes nothing.
"""

import hashlib
from datetime import datetime
from typing import Any

from django.db import transaction

from lifecycle.drop.domain.refusal import Name
from lifecycle.inventory.selectors.picture import picture_problem
from lifecycle.models import (
    PlanState,
    RelocationMove,
    RelocationMoveState,
    RelocationPlan,
    ScanSnapshot,
)
from lifecycle.planning.selectors.inputs import current_generation, plan_over_caps
from lifecycle.planning.services.parties import requesters_of
from lifecycle.relocation.domain.refusal import WORDS
from lifecycle.relocation.services.draft import RelocationDraft, fix_draft
from lifecycle.relocation.services.plans import FIXES, fix_audit, fix_move
from portal.access.lakes import get_lake
from portal.approvals.sizes import plan_needed
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.counts import count_words
from portal.lake.errors import StaleState

DIRECTORY_MODE = 0o700
_CHUNK = 200
_FIELDS = (
    "source",
    "target",
    "n_files",
    "n_bytes",
    "n_partitions",
    "state",
    "left_out_reason",
    "note",
)


def fix_draw(fix: RelocationPlan, *, folder: str, now: datetime) -> dict[str, Any]:
    """Create a relocation plan: its file under `<spool>/plans/<plan>/<folder>`, rows, its approval.

    Ends as NOT_CREATED with a sentence when nothing may be moved, or when it is over a cap.
    """
    if fix.state != PlanState.DRAFTING:
        return {"fix": str(fix.pk), "state": fix.state}
    config = get_lake(fix.lake)
    generation = current_generation(fix.lake)
    rows = list(fix.items.order_by("db", "table", "partition"))
    try:
        drafted = fix_draft(fix, rows, generation, now=now, config=config)
        problem = _problem(fix, drafted, generation)
    except StaleState as error:
        drafted, problem = RelocationDraft(), error.message
    if problem:
        _fill(rows, drafted, is_stopped=True)
        _store_refused(fix, rows, generation, problem=problem, now=now)
    else:
        uri = _write_items(config, fix, drafted.content, folder)
        fix_store(fix, drafted, generation, uri=uri, now=now)
    return {"fix": str(fix.pk), "state": fix.state, "items": len(drafted.items)}


def fix_weight(n_items: int, n_partitions: int) -> int:
    """Return how many items a plan counts as: a table with its partitions counts as those."""
    return n_items + n_partitions


def _problem(fix: RelocationPlan, drafted: RelocationDraft, generation: ScanSnapshot) -> str:
    if not drafted.items:
        return "Nothing of what was chosen may be moved. Each row below says why."
    over = plan_over_caps(
        fix.lake,
        generation,
        n_items=_weight(drafted),
        n_bytes=sum(item.n_bytes for item in drafted.items),
    )
    return over or picture_problem(fix.lake, generation)


def _weight(drafted: RelocationDraft) -> int:
    return fix_weight(len(drafted.items), sum(item.n_partitions for item in drafted.items))


def _fill(rows: list[RelocationMove], drafted: RelocationDraft, *, is_stopped: bool) -> None:
    """Say in each row from where to where it goes, or why it does not."""
    planned = {Name(one.db, one.table, one.partition): one for one in drafted.items}
    for row in rows:
        name = Name(row.db, row.table, row.partition)
        if name in drafted.targets:
            row.target = str(drafted.targets[name])
        item = planned.get(name)
        if item is None:
            code = drafted.left_out.get(name)
            row.state = RelocationMoveState.LEFT_OUT
            row.left_out_reason, row.note = (
                (str(code), drafted.notes.get(name, WORDS[code]))
                if code
                else ("", "It was not checked.")
            )
            continue
        row.source, row.target = item.source, item.target
        row.n_files, row.n_bytes = item.n_files, item.n_bytes
        row.n_partitions = item.n_partitions
        row.state = RelocationMoveState.NOT_REACHED if is_stopped else RelocationMoveState.PLANNED


def _write_items(config: LakeConfig, fix: RelocationPlan, content: bytes, folder: str) -> str:
    directory = config.path(config.spool).child("plans", str(fix.pk), folder)
    fs = open_file_system(directory, config=config)
    fs.make_directories(directory, mode=DIRECTORY_MODE)
    path = directory.child("items.jsonl")
    # A worker that died here may have left a file; nobody has approved its digest.
    fs.replace(path, content)
    return str(path)


@transaction.atomic
def _store_refused(
    fix: RelocationPlan,
    rows: list[RelocationMove],
    generation: ScanSnapshot,
    *,
    problem: str,
    now: datetime,
) -> None:
    RelocationMove.objects.bulk_update(rows, _FIELDS, batch_size=_CHUNK)
    fix_move(
        fix,
        PlanState.NOT_CREATED,
        now=now,
        by="system",
        reason=problem,
        generation=generation,
        n_left_out=len(rows),
    )
    fix_audit("refused", fix, actor="system", now=now, reason=problem)


@transaction.atomic
def fix_store(
    fix: RelocationPlan,
    drafted: RelocationDraft,
    generation: ScanSnapshot,
    *,
    uri: str,
    now: datetime,
) -> None:
    """Write the rows and the totals, and ask two people."""
    RelocationPlan.objects.select_for_update().get(pk=fix.pk)
    rows = list(fix.items.all())
    _fill(rows, drafted, is_stopped=False)
    RelocationMove.objects.bulk_update(rows, _FIELDS, batch_size=_CHUNK)
    digest = hashlib.sha256(drafted.content).hexdigest()
    tables = {(item.db, item.table) for item in drafted.items}
    n_bytes = sum(item.n_bytes for item in drafted.items)
    requesters = requesters_of(fix.lake, maker=fix.requested_by, tables=tables, wishes=())
    needed = plan_needed(fix.lake, n_items=_weight(drafted), n_bytes=n_bytes)
    what = "Undo of a relocation plan" if fix.undo_of_id else "Relocation plan"
    approval = FIXES.open(
        fix,
        digest=digest,
        requesters=requesters,
        summary={
            "title": f"{what}: move {count_words(len(drafted.items), 'path')}",
            "n_items": len(drafted.items),
            "n_bytes": n_bytes,
            "reason": fix.reason,
            "needed_why": needed.reason,
        },
        n_needed=needed.n,
        now=now,
    )
    fix_move(
        fix,
        PlanState.PENDING,
        now=now,
        generation=generation,
        digest=digest,
        items_uri=uri,
        backup_root=drafted.backup_root,
        n_items=len(drafted.items),
        n_left_out=len(rows) - len(drafted.items),
        n_bytes=n_bytes,
        n_files=sum(item.n_files for item in drafted.items),
        requesters=requesters,
        approval=approval,
    )
    fix_audit("created", fix, actor=fix.requested_by, now=now, items=len(drafted.items))
