"""Hudi tables that tests of their pages begin with, as looks left them: well, ill and wide."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from optimizer.hudi.inspect.domain.facts import (
    Action,
    BlockKind,
    BlockState,
    DuplicateKey,
    FileGroupId,
    FileSlice,
    HudiInspection,
    plain,
)
from optimizer.hudi.inspect.domain.findings import Severity
from optimizer.hudi.inspect.domain.health import health_of
from optimizer.hudi.inspect.domain.quality import failures
from optimizer.hudi.inspect.domain.staleness import staleness_of
from optimizer.hudi.inspect.domain.timeline import PLANNED, last_write_at, pending, stuck
from optimizer.hudi.planner.domain.deciding import decide
from optimizer.models import HudiPoint, HudiTable, StoredInspection
from optimizer.policies.domain.hudi_policy import HudiPolicy
from tests.unit.optimizer.hudi.hudi_world import (
    COMPACTION,
    asked,
    at,
    begun,
    block,
    done,
    logs,
    look,
    name,
    plan,
    policy,
    waiting,
)

NOW = datetime(2026, 3, 2, 16, 40, tzinfo=UTC)  # the end of the world of looks


def healthy(**facts: Any) -> HudiInspection:
    """A look at a table whose logs were compacted, and cleaned."""
    return look(
        done(2, is_archived=True),
        done(900),
        done(910),
        done(920, Action.COMMIT, operation="COMPACT", n_operations=2),
        done(930, Action.CLEAN),
        **{
            "slices": (logs("a", 900, base=9 * 10**8, n=0), logs("b", 900, base=8 * 10**8, n=0)),
            "archived_to": name(2),
            "has_read_logs": True,
            "has_read_keys": True,
            **facts,
        },
    )


def ill(**facts: Any) -> HudiInspection:
    """A look at a table with nearly everything wrong that can be."""
    two = ("f", "g")
    return look(
        done(1, is_archived=True),
        done(100, operation="UPSERT", n_operations=4),
        done(110),
        asked(120),
        done(125),
        asked(130),
        begun(140, Action.CLUSTERING),
        begun(150, heartbeat_at=at(151), by="etl_user"),
        done(160),
        asked(170, Action.CLEAN),
        **{
            "slices": (
                logs("a", 100, base=9 * 10**6, n=3),
                logs("b", 110, base=8 * 10**6),
                logs("c", 125, base=None, n=2),
                logs("d", 160, base=None, n=2, earlier=True),
                logs("f", 100, base=7 * 10**8, n=1),
                logs("g", 100, base=None, n=1),
            ),
            "plans": (
                plan(120, "a"),
                plan(130, "b"),
                plan(140, "f", action=Action.CLUSTERING, begun=True),
            ),
            "uncompacted": waiting(100, 110, 125, 160),
            "blocks": (
                block(None, BlockState.CORRUPT, BlockKind.CORRUPT),
                block(50, BlockState.NOWHERE),
            ),
            "duplicates": (DuplicateKey(key="id:7", partition="p", file_ids=two),),
            "archived_to": name(1),
            "has_read_logs": True,
            "has_read_keys": True,
            **facts,
        },
    )


def wide(n_groups: int) -> HudiInspection:
    """A look at a table of many file groups, of which every third has logs."""
    return look(
        *(done(minute) for minute in range(1, 600)),
        asked(700, COMPACTION),
        slices=tuple(
            FileSlice(
                group=FileGroupId(f"day={n % 30:02d}", f"f{n:07d}"),
                base_instant=name(1),
                base_bytes=10**6 + n,
                n_logs=n % 3 == 0,
                log_bytes=10**5 if n % 3 == 0 else 0,
            )
            for n in range(n_groups)
        ),
        has_read_logs=True,
    )


def hudi(
    table: str = "events",
    *,
    seen: HudiInspection | None = None,
    settings: HudiPolicy | None = None,
    now: datetime = NOW,
    **values: Any,
) -> HudiTable:
    """A table of olga; with a look, what that found is kept as the portal keeps it."""
    location = f"file:/lake/{table}"
    fields: dict[str, Any] = {
        "lake": "main",
        "db": "shop",
        "owner": "olga",
        "location": location,
        "place": sha256(location.encode()).hexdigest(),
        "event_at": now,
    }
    if seen is not None:
        fields |= _found(seen, settings or policy(), now)
    row = HudiTable.objects.create(table=table, **{**fields, **values})
    if seen is not None:
        StoredInspection.objects.create(table=row, at=now, packed=StoredInspection.pack(seen))
    return row


def points(of: HudiTable, healths: Sequence[float | None], *, now: datetime = NOW) -> None:
    """One look an hour, the last of them now."""
    HudiPoint.objects.bulk_create(
        HudiPoint(
            table=of,
            at=now - timedelta(hours=len(healths) - 1 - place),
            health=health,
            stale_seconds=3600.0 * place,
            n_uncompacted=place,
            n_pending=place,
        )
        for place, health in enumerate(healths)
    )


def _found(seen: HudiInspection, settings: HudiPolicy, now: datetime) -> dict[str, Any]:
    found, wrong = health_of(seen, settings, now), failures(seen, settings, now)
    decision = decide(seen, policy=settings, now=now)
    stale = staleness_of(seen)
    return {
        "inspected_at": now,
        "table_type": str(seen.table.table_type),
        "version": seen.table.version,
        "health": found.score if found else None,
        "deductions": found.as_list() if found else [],
        "findings": [one.as_dict() for one in wrong],
        "n_critical": sum(one.severity is Severity.CRITICAL for one in wrong),
        "n_warnings": sum(one.severity is Severity.WARNING for one in wrong),
        "n_pending": len(pending(seen, PLANNED)),
        "n_stuck": len(stuck(seen, patience=settings.patience, now=now)),
        "n_file_groups": len(seen.slices),
        "base_bytes": sum(one.base_bytes or 0 for one in seen.slices),
        "log_bytes": sum(one.log_bytes for one in seen.slices),
        "written_at": last_write_at(seen),
        "stale_since": stale.since if stale else None,
        "decided_at": now,
        "decision": decision.words,
        "decisions": [plain(one) for one in decision.decisions],
    }
