"""Drop and restore as the real Spark programs, started the way the portal starts them."""

import hashlib
import json
import time
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from lifecycle.backup.engine.journal.reading import read_batch
from lifecycle.backup.engine.purge.batches import PurgeBatch
from lifecycle.drop.domain.plan import PlanDigest, PlanItem, plan_digest
from portal.connectors.lake_config import LakeConfig
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.spark.launch import Launched, is_alive, kill, submit
from portal.spark.spool import Spool
from tests.support.act_lake import DAY, ActLake

SUBMIT_SECONDS = 180.0


def plan_file(lake: ActLake, *names: TableName) -> tuple[LakePath, str]:
    """Write the items file of an approved plan of whole tables; returns its path and digest."""
    digest = PlanDigest()
    lines = [
        digest.add(
            PlanItem(
                db=item.db,
                table=item.table,
                tbl_id=1,
                partition=item.partition,
                part_id=n,
                location=item.location,
                level=item.level,
                ttl=item.ttl,
                policy_source="table",
                ddl_time=item.ddl_time,
                create_time=item.create_time,
                mtime_ms=item.mtime_ms or 0,
                updated_ms=item.mtime_ms or 0,
                n_files=item.n_files or 0,
                n_bytes=item.n_bytes or 0,
                due_on=date(2026, 11, 1),
            )
        )
        for name in names
        for n, item in enumerate(lake.items(name))
    ]
    path = lake.base.child(f"items-{uuid.uuid4().hex[:8]}.jsonl")
    lake.fs.write_new(path, b"".join(lines))
    found = digest.finish().digest
    assert found == hashlib.sha256(b"".join(lines)).hexdigest()
    return path, found


def drop_params(lake: ActLake, name: TableName, run: str, *more: TableName) -> dict[str, Any]:
    """Make the fence and give the job's params, as the portal does."""
    order = lake.order(run)
    items, items_sha256 = plan_file(lake, name, *more)
    keep_days = {lake.db: 20}
    return {
        "plan": "plan",
        "digest": plan_digest(items_sha256, backup_root=str(lake.root), keep_days=keep_days),
        "items": str(items),
        "items_sha256": items_sha256,
        "root": str(lake.root),
        "fence": str(order.fence),
        "approved_day": DAY.isoformat(),
        "approved_keep_days": keep_days,
        "keep_days": keep_days,
        **judged_again(lake, name, *more),
    }


def judged_again(lake: ActLake, *names: TableName) -> dict[str, Any]:
    """Give what an acting job judges by again: the path rules, and whose the plan's tables are."""
    return {
        "path_rules": {
            "databases": {lake.db: {"template": str(lake.base)}},
            "waivers": [],
            "backup_roots": [],
        },
        "scanned_at": datetime.now(UTC).isoformat(),
        "may_be_read": [],
        "owners": {str(name): ["alice", ""] for name in names},
    }


def restore_params(lake: ActLake, run: str, restore: str) -> dict[str, Any]:
    """Claim a backup and give the job's params."""
    lake.claim(run, restore)
    order = lake.restore_order(run, restore)
    claims = [
        {
            "directory": str(ref.directory),
            "batch": ref.batch,
            "fence": str(ref.directory.parent),
            "manifest_sha256": read_batch(lake.fs, ref.directory, ref.batch).sha256,
        }
        for ref in order.batches
    ]
    return {"claims": claims, "items": None, "rename_to": None}


def purge_claims(config: LakeConfig, claims: Iterable[Mapping[str, Any]]) -> tuple[PurgeBatch, ...]:
    """Read the claims of a purge as its job does."""
    return tuple(
        PurgeBatch(
            backup=claim["backup"],
            name=claim["name"],
            directory=config.path(claim["directory"]),
            batch=claim["batch"],
            manifest_sha256=claim["manifest_sha256"],
            purge_after=datetime.fromisoformat(claim["purge_after"]),
        )
        for claim in claims
    )


def start(
    config: LakeConfig,
    module: str,
    params: Mapping[str, Any],
    *,
    run: str,
    log: Path,
    failpoint: str = "",
) -> tuple[Launched, Spool]:
    """Submit a job as epoch 1 of a run."""
    spool = Spool.for_run(config, run, 1)
    spool.create()
    spool.write_request(
        {
            "run": run,
            "epoch": 1,
            "lake": config.as_dict(),
            "now": datetime.now(UTC).isoformat(),
            "params": dict(params),
        }
    )
    environment = {"LW_FAILPOINT": failpoint, "LW_FAILPOINTS_ENABLED": "1"} if failpoint else {}
    launched = submit(
        module=module,
        tag=f"lw-{run}-1",
        spool=str(spool.root),
        config=config,
        log_file=log,
        environment=environment,
    )
    return launched, spool


def wait_end(launched: Launched) -> None:
    """Wait until no process of the program is left; one that does not end is killed, and told."""
    deadline = time.monotonic() + SUBMIT_SECONDS
    while is_alive(launched):
        if time.monotonic() > deadline:
            kill(launched)
            raise AssertionError(f"the program did not end within {SUBMIT_SECONDS:.0f} s")
        time.sleep(0.2)


def finished(launched: Launched, spool: Spool, log: Path) -> dict[str, Any]:
    """Wait for the end and give the result; anything but done shows the log."""
    wait_end(launched)
    manifest = spool.read_manifest()
    if manifest is None or manifest["outcome"] != "done":
        raise AssertionError(json.dumps(manifest, indent=1) + log.read_text()[-4000:])
    return dict(manifest["result"])
