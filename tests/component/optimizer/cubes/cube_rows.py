"""Rows that tests of cubes begin with: estimates that are done, cubes, coverage."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from optimizer.cubes.domain.drafts import Draft, parse_draft
from optimizer.cubes.services.estimates import KIND
from optimizer.models import Cube, CubeBuild, CubeCoverage, CubeVersion, IcebergTable
from portal.runs.domain import RunState
from portal.runs.models import Run

DRAFT = Draft("by_kind", dimensions="kind", measures="price: sum, count", max_leaf=10)
FIGURES = {
    "n_files": 24,
    "n_sampled": 16,
    "n_rows": 12_000,
    "n_rows_sampled": 8_000,
    "n_bytes": 4_000_000,
    "cube_rows": 480.0,
    "cube_bytes": 9_000.0,
    "build_seconds": 3.2,
    "is_exact": False,
    "share": 0.04,
    "byte_share": 0.002,
    "problems": [],
    "pays": True,
    "reason": "The cube would hold 480 rows, 4.0% of the table's 12,000.",
    "without": [{"dimension": "kind", "cube_rows": 24.0}],
    "dimensions": [{"name": "kind", "type": "string", "expression": "fact.kind", "n_values": 3}],
    "joins": [],
}


def definition_of(table: IcebergTable, draft: Draft = DRAFT) -> dict[str, Any]:
    """A definition as an estimate completes it."""
    found = parse_draft(draft, str(table))
    found["table"]["uuid"] = table.uuid
    for one in (*found["dimensions"], *found["measures"]):
        one["type"] = "string" if one in found["dimensions"] else "bigint"
    return found


def estimate(table: IcebergTable, draft: Draft = DRAFT, **changed: Any) -> Run:
    """An estimate that is done."""
    now = timezone.now()
    definition = definition_of(table, draft)
    return Run.objects.create(
        lake=table.lake,
        kind=KIND,
        queue="plan",
        state=RunState.DONE,
        params={
            "db": table.db,
            "table": table.table,
            "uuid": table.uuid,
            "definition": parse_draft(draft, str(table)),
        },
        result={"definition": definition, **FIGURES, **changed},
        requested_by="olga",
        subject_type="table",
        subject_id=str(table),
        queued_at=now,
        finished_at=now,
    )


def cube(table: IcebergTable, name: str = "by_kind", *, now: datetime, **values: Any) -> Cube:
    """A cube that was built, and covers one of two partitions."""
    fields: dict[str, Any] = {
        "created_by": "olga",
        "created_at": now - timedelta(days=1),
        "built_at": now,
        "built_version": 1,
        "snapshot_id": 7,
        "n_files": 24,
        "n_covered": 12,
        "n_rows": 12_000,
        "n_rows_covered": 6_000,
        "n_units": 12,
        "n_cube_rows": 240,
        "n_bytes": 9_000,
        "stale": [{"code": "new", "reason": "not built yet", "n_files": 12}],
    }
    made = Cube.objects.create(table=table, name=name, **{**fields, **values})
    CubeVersion.objects.create(
        cube=made,
        version=1,
        definition=definition_of(table, Draft(name, dimensions="kind", measures="price: sum")),
        estimate={"cube_rows": 480.0},
        by="olga",
        at=now - timedelta(days=1),
        reason="dashboards",
    )
    for place, covered in enumerate((6_000, 0)):
        CubeCoverage.objects.create(
            cube=made,
            partition=f"dt=2026-11-{20 - place}",
            place=place,
            n_files=12,
            n_covered=12 if covered else 0,
            n_rows=6_000,
            n_rows_covered=covered,
        )
    CubeBuild.objects.create(
        cube=made, version=1, at=now, seconds=4.5, n_files_read=12, n_rows_read=6_000, n_bytes=9_000
    )
    return made
