"""A relocation plan as its creating leaves it, without a metastore to draw it up from."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from lifecycle.backup.engine.move.records import MoveItem
from lifecycle.drop.domain.refusal import Name
from lifecycle.models import PathFinding, RelocationPlan, ScanSnapshot
from lifecycle.relocation.domain.moves import Immovable
from lifecycle.relocation.services.draft import RelocationDraft
from lifecycle.relocation.services.plans import fix_request
from lifecycle.relocation.services.store import fix_store
from portal.access.models import User
from portal.lake.paths import LakePath


def stray_findings(generation: ScanSnapshot, *, owner: str, db_owner: str) -> list[PathFinding]:
    """Make two nonconforming tables of a picture: one that can be moved, and one that cannot."""
    return [
        PathFinding.objects.create(
            generation=generation,
            lake=generation.lake,
            kind="TABLE",
            db="sales",
            table=table,
            owner=owner,
            db_owner=db_owner,
            location=f"file:///stray/{table}",
            reasons=["TBL_NOT_SUB_DB"],
            reason_key="|TBL_NOT_SUB_DB|",
        )
        for table in ("stray", "shared")
    ]


def drawn_fix(findings: list[PathFinding], *, user: User, now: datetime) -> RelocationPlan:
    """Ask for both and store what a worker would have found: one moves, one stays."""
    first = findings[0]
    fix = fix_request(
        first.lake, [one.pk for one in findings], reason="tidy up", user=user, now=now
    )
    return store_drawn(fix, first.generation, now=now)


def store_drawn(
    fix: RelocationPlan,
    generation: ScanSnapshot,
    *,
    now: datetime,
    far: Mapping[Name, str] = MappingProxyType({}),
) -> RelocationPlan:
    """Store the creating of a plan: `stray` moves where its row says, others are shared or `far`.

    What would leave its file system comes with what is said of that.
    """
    drafted = RelocationDraft(backup_root="file:///backup", notes=dict(far))
    for row in fix.items.order_by("id"):
        name = Name(row.db, row.table, row.partition)
        if row.table != "stray":
            is_far = name in far
            drafted.left_out[name] = (
                Immovable.OTHER_FILE_SYSTEM if is_far else Immovable.SHARED_LOCATION
            )
            continue
        target = row.target or "file:///lake/sales/stray"
        drafted.targets[name] = LakePath.parse(target)
        drafted.items.append(
            MoveItem(
                db=row.db,
                table=row.table,
                partition=row.partition,
                source=row.source,
                target=target,
                create_time=1,
                ddl_time=2,
                mtime_ms=3,
                n_files=4,
                n_bytes=5,
            )
        )
    fix_store(fix, drafted, generation, uri="file:///spool/items.jsonl", now=now)
    return RelocationPlan.objects.get(pk=fix.pk)
