"""Takes in what a run did at the cubes of a table."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from optimizer.core.models import OptimizeTask
from optimizer.models import Cube, CubeBuild, CubeCoverage

_KEPT_BUILDS = 200
_NUMBERS = (
    *("snapshot_id", "cube_uuid", "cube_snapshot_id", "n_files", "n_covered", "n_rows"),
    *("n_rows_covered", "n_units", "n_cube_rows", "n_bytes", "dimensions"),
)
_WORK = ("n_files_read", "n_rows_read", "n_units_built", "n_units_merged", "n_units_gone")


def cubes_ingest(task: OptimizeTask, cubes: Iterable[Mapping[str, Any]], *, now: datetime) -> None:
    """Write how far each cube is, and the build; called again it writes the same."""
    for one in cubes:
        cube = Cube.objects.filter(table=task.iceberg, name=one["name"], is_there=True).first()
        if cube is None:
            continue
        for name in _NUMBERS:
            setattr(cube, name, one[name])
        cube.built_at, cube.built_version = now, one["version"]
        cube.stale = _stale(one)
        cube.problem = str(one.get("problem", ""))
        cube.save(update_fields=[*_NUMBERS, "built_at", "built_version", "stale", "problem"])
        _partitions_ingest(cube, one["partitions"])
        work = {name: one[name] for name in _WORK}
        CubeBuild.objects.update_or_create(
            cube=cube,
            run=task.run,
            defaults={
                "version": one["version"],
                "at": now,
                "seconds": one["seconds"],
                "n_cube_rows": one["n_cube_rows"],
                "n_bytes": one["n_bytes"],
                **work,
            },
        )
        old = cube.builds.order_by("-at").values_list("pk", flat=True)[_KEPT_BUILDS:]
        CubeBuild.objects.filter(pk__in=list(old)).delete()


def _partitions_ingest(cube: Cube, partitions: Iterable[Mapping[str, Any]]) -> None:
    """Put the last build's numbers by partition in the place of those before."""
    rows = [CubeCoverage(cube=cube, place=n, **one) for n, one in enumerate(partitions)]
    with transaction.atomic():
        cube.coverage.all().delete()
        CubeCoverage.objects.bulk_create(rows, batch_size=500)


def problem_ingest(task: OptimizeTask, problems: Mapping[str, str]) -> None:
    """Write why a cube could not be built; the next build takes it away."""
    for name, text in problems.items():
        Cube.objects.filter(table=task.iceberg, name=name, is_there=True).update(problem=text)


def _stale(one: Mapping[str, Any]) -> list[dict[str, Any]]:
    counts: dict[str, int] = {}
    for _, reason in one["refused"]:
        counts[reason] = counts.get(reason, 0) + 1
    return [
        {"code": "refused", "reason": reason, "n_files": n} for reason, n in sorted(counts.items())
    ]
