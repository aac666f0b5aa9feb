"""Moving a small lake's tables and partitions, as a run of a relocation plan does."""

import hashlib
import json
import uuid
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from lifecycle.backup.domain.control import Control
from lifecycle.backup.engine.files.backup_root import ensure_root
from lifecycle.backup.engine.move.items import MoveOrder, move_items
from lifecycle.backup.engine.move.records import MoveItem
from lifecycle.backup.engine.protocol import DropResult
from lifecycle.backup.engine.settle.moves import settle_moves
from lifecycle.relocation.jobs import PlaceRules
from portal.connectors.lake_config import LakeConfig
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.safety.fence import move_directory, open_fence
from tests.support.act_jobs import judged_again
from tests.support.act_lake import LEASE, ActLake


def move_rules(lake: ActLake, *, must_conform: bool = False) -> PlaceRules:
    """Return the room's own rules for a test's database."""
    return PlaceRules(lake.config, homes={lake.db: lake.db_path}, must_conform=must_conform)


def moves_of(lake: ActLake, name: TableName, target: LakePath) -> list[MoveItem]:
    """Return the item of a plan that moves a whole table, partitioned or not."""
    table = lake.metastore.table(name)
    source = move_rules(lake).location(table, None)
    assert source is not None
    return [move_of(lake, name, "", source, target)]


def move_of(
    lake: ActLake, name: TableName, partition: str, source: LakePath, target: LakePath
) -> MoveItem:
    """Return one item as an approved plan would name it."""
    struct: Any = lake.metastore.table(name)
    if partition:
        (struct,) = lake.metastore.partitions_by_names(name, [partition])
    files = lake.files(source)
    return MoveItem(
        db=name.db,
        table=name.table,
        partition=partition,
        source=str(source),
        target=str(target),
        create_time=struct.createTime,
        ddl_time=int(struct.parameters["transient_lastDdlTime"]),
        mtime_ms=max(fact.mtime_ms for fact in files),
        n_files=sum(not fact.is_dir for fact in files),
        n_bytes=sum(fact.size for fact in files),
    )


def move_order(lake: ActLake, run: str) -> MoveOrder:
    """Make the fence of a run of moves and give its order."""
    ensure_root(lake.fs, lake.root, deployment_id=lake.config.deployment_id)
    fence = lake.day.moving(run, 1)
    open_fence(lake.fs, fence, lease_until=datetime.now(UTC) + LEASE)
    return MoveOrder(
        run=run, epoch=1, lake=lake.config.lake, plan="plan", digest="digest", fence=fence
    )


def move(
    lake: ActLake,
    items: Iterable[MoveItem],
    *,
    must_conform: bool = False,
    control: Control | None = None,
) -> tuple[str, DropResult]:
    """Move items as one run, then seal and settle it."""
    run = str(uuid.uuid4())
    order = move_order(lake, run)
    result = move_items(
        order,
        items,
        rules=move_rules(lake, must_conform=must_conform),
        tools=lake.tools(order.fence, control=control),
    )
    seal_moves(lake, run)
    return run, result


def seal_moves(lake: ActLake, run: str, *, approved: bool = False) -> dict[str, int]:
    """Seal and settle a run of moves, as its end does."""
    moved = lake.day.moved(run, 1)
    if lake.fs.status(lake.day.moving(run, 1)) is not None:
        move_directory(lake.fs, lake.day.moving(run, 1), moved)
    return settle_moves(moved, lake.settle_tools(approved=approved))


def rows_of(items: Iterable[MoveItem]) -> list[dict[str, Any]]:
    """Return items as a specification for another process."""
    return [asdict(item) for item in items]


def move_params(
    lake: ActLake, name: TableName, run: str, items: Iterable[MoveItem]
) -> dict[str, Any]:
    """Write the items file, make the fence and return the params of a relocation's Spark job."""
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows_of(items))
    path = lake.base.child(f"items-{run}.jsonl")
    lake.fs.write_new(path, content)
    digest = hashlib.sha256(content).hexdigest()
    return {
        "plan": "plan",
        "digest": digest,
        "items": str(path),
        "items_sha256": digest,
        "root": str(lake.root),
        "fence": str(move_order(lake, run).fence),
        "undo": False,
        **judged_again(lake, name),
    }


def move_specification(
    config: LakeConfig, lake: ActLake, run: str, items: Iterable[MoveItem]
) -> dict[str, Any]:
    """Say to a driver process what to move, behind a fresh fence."""
    return {
        "kind": "move",
        "run": run,
        "items": rows_of(items),
        "config": config.as_dict(),
        "name": lake.name,
        "fence_path": str(move_order(lake, run).fence),
        "fence": True,
    }
