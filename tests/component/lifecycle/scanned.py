"""A scanned lake for component tests: results in Parquet, loaded as the scan's own run would."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.services.scan import KIND
from lifecycle.models import DatabaseSetting, ScanSnapshot
from lifecycle.schedule.run_kinds.scan import ScanKind
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from tests.support.scan_results import Finding, Item, Picture, Table

ORDERS = Table(
    "sales",
    "orders",
    11,
    owner="olga",
    items=(
        Item(ExpiryClass.CLEAN_NOW, "dt=2026-08-01", datetime(2026, 8, 1, tzinfo=UTC)),
        Item(ExpiryClass.SOON, "dt=2026-09-24", datetime(2026, 9, 24, tzinfo=UTC)),
        Item(
            ExpiryClass.STILL_READ,
            "dt=2026-08-03",
            datetime(2026, 8, 3, tzinfo=UTC),
            read=datetime(2026, 11, 15, tzinfo=UTC),
        ),
        Item(ExpiryClass.NOT_NOW, "dt=2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
    ),
)
STRAY = Table(
    "sales",
    "stray",
    12,
    owner="paul",
    items=(Item(ExpiryClass.NONCONFORMING, "", datetime(2026, 8, 1, tzinfo=UTC)),),
    reasons=("OWNER_PATH_FAIL", "TBL_NOT_SUB_DB"),
)
LOGS = Table(
    "web",
    "logs",
    21,
    owner="paul",
    items=(Item(ExpiryClass.CLEAN_NOW, "", datetime(2026, 8, 1, tzinfo=UTC), size=5_000),),
)
PICTURE = Picture(
    owners={"sales": "sara", "web": "wanda"},
    tables=(ORDERS, STRAY, LOGS),
    findings=(
        Finding(
            "TABLE",
            "sales",
            "stray",
            reasons=("OWNER_PATH_FAIL", "TBL_NOT_SUB_DB"),
            related=("sales",),
        ),
        Finding("DATABASE", "web", reasons=("HAS_OTHER_DB",), hint="Move web."),
    ),
)


def scan(config: LakeConfig, picture: Picture = PICTURE, *, now: datetime) -> ScanSnapshot:
    """Load a picture as the result of a scan at `now`."""
    n_before = Run.objects.count()
    spool = Path(config.path(config.spool).path) / f"scan-{n_before}"
    run = Run.objects.create(
        lake=str(config.lake),
        kind=KIND,
        queue="scan",
        state="SETTLING",
        requested_by="test",
        params={"now": now.isoformat()},
        spool=f"file:{spool}",
        queued_at=now,
    )
    result = replace(picture, read_at=now).write(spool / "results")
    ScanKind().ingest(run, {"outcome": "done", "error": None, "result": result, "log": []})
    Run.objects.filter(pk=run.pk).update(state="DONE", finished_at=now)
    return ScanSnapshot.objects.get(run=run)


def set_mode(db: str, mode: str) -> None:
    """Put a database into a mode."""
    DatabaseSetting.objects.update_or_create(lake="main", db=db, defaults={"mode": mode})
