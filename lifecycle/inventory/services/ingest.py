"""Loads a scan's result into the generation that readers see.

Rows are loaded under a new generation in short transactions; the pointer flips last, so a reader
never sees half a picture and a failed load changes nothing that is shown.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from django.db import models, transaction

from lifecycle.core.services.statistics import statistics_refresh
from lifecycle.expiry.services.ages import table_ages_load
from lifecycle.inventory.models.findings import EXAMPLES_PER_CLASS, GenerationState
from lifecycle.inventory.services.catalog import catalog_load
from lifecycle.inventory.services.dry_run import dry_run_record
from lifecycle.inventory.services.due_days import due_days_load
from lifecycle.inventory.services.ingest_rows import Owners, RowMaker
from lifecycle.inventory.services.totals import totals_load
from lifecycle.inventory.services.trim import generations_trim, rows_delete
from lifecycle.inventory.services.window import window_load
from lifecycle.models import (
    DatabaseFinding,
    LatestScan,
    PartitionRange,
    PathFinding,
    SamplePartition,
    ScanSnapshot,
    TableFinding,
    TrendPoint,
)
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.runs.models import Run
from portal.runs.results.parquet import CHUNK, result_rows

M = TypeVar("M", bound=models.Model)
T = TypeVar("T")


def generation_load(run: Run, result: Mapping[str, Any], *, now: datetime) -> ScanSnapshot:
    """Load the run's results and show them; called again for a loaded run it changes nothing."""
    generation = _generation(run, result, now=now)
    if generation.state == GenerationState.READY:
        return generation
    rows_delete(generation)
    owners = Owners.read(get_lake(run.lake), generation.results_uri)
    maker = RowMaker(generation, owners)
    _load_tables(generation, maker)
    n_paths = _load_paths(generation, maker)
    _load_items(generation, maker)
    window_load(generation)
    table_ages_load(generation)
    totals_load(generation, n_paths=n_paths)
    due_days_load(generation)
    dry_run_record(generation)
    catalog_load(generation, owners)
    _flip(generation, n_paths=n_paths)
    generations_trim(run.lake)
    statistics_refresh()
    return generation


def _generation(run: Run, result: Mapping[str, Any], *, now: datetime) -> ScanSnapshot:
    read_at = datetime.fromisoformat(result["read_at"])
    generation, _ = ScanSnapshot.objects.get_or_create(
        run=run,
        defaults={
            "lake": run.lake,
            "day": day_of(now, get_lake(run.lake).zone),
            "as_of": now,
            "read_at": read_at,
            "notification_id": result["notification_id"],
            "totals": dict(result),
            "results_uri": result_uri(run),
        },
    )
    return generation


def result_uri(run: Run) -> str:
    """Return the URI of the run's result files."""
    return f"{run.spool.rstrip('/')}/results"


def _load_tables(generation: ScanSnapshot, maker: RowMaker) -> None:
    config = get_lake(generation.lake)
    uri = generation.results_uri
    _create(DatabaseFinding, (maker.database(row) for row in _rows(config, uri, "databases")))
    _create(TableFinding, (maker.table(row) for row in _rows(config, uri, "tables")))


def _load_paths(generation: ScanSnapshot, maker: RowMaker) -> int:
    """Load paths that break rules, at most `EXAMPLES_PER_CLASS` partitions a table.

    Gives how many there are in all, without those whose every breach is waived.
    """
    n_seen = 0
    n_of_table: dict[tuple[str, str], int] = {}

    def kept() -> Iterator[PathFinding]:
        nonlocal n_seen
        for row in _rows(get_lake(generation.lake), generation.results_uri, "findings"):
            n_seen += bool(row["reasons"])
            if row.get("part_name"):
                key = (row["db"], row["tbl"])
                n_of_table[key] = n_of_table.get(key, 0) + 1
                if n_of_table[key] > EXAMPLES_PER_CLASS:
                    continue
            yield maker.path(row)

    _create(PathFinding, kept())
    return n_seen


def _load_items(generation: ScanSnapshot, maker: RowMaker) -> None:
    config, uri = get_lake(generation.lake), generation.results_uri
    rows = TableFinding.objects.filter(generation=generation).values_list("db", "table", "pk")
    maker.table_keys = {(db, table): key for db, table, key in rows.iterator(chunk_size=CHUNK)}
    _create(PartitionRange, (maker.item_range(row) for row in _rows(config, uri, "ranges")))
    _create(SamplePartition, (maker.example(row) for row in _rows(config, uri, "examples")))


def _flip(generation: ScanSnapshot, *, n_paths: int) -> None:
    """Write the trends and show the generation, in one transaction."""
    points = dict(trend_values(generation.totals))
    points["paths.nonconforming"] = n_paths
    with transaction.atomic():
        TrendPoint.objects.filter(lake=generation.lake, day=generation.day).delete()
        TrendPoint.objects.bulk_create(
            TrendPoint(lake=generation.lake, day=generation.day, metric=metric, value=value)
            for metric, value in points.items()
        )
        ScanSnapshot.objects.filter(pk=generation.pk).update(state=GenerationState.READY)
        LatestScan.objects.update_or_create(
            lake=generation.lake, defaults={"generation": generation}
        )
    generation.state = GenerationState.READY


def trend_values(totals: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the numbers of one scan that are followed over days."""
    for name in ("n_databases", "n_tables", "n_views", "n_partitions", "missing_directories"):
        yield name, int(totals.get(name) or 0)
    classes = totals.get("classes") or {}
    yield "n_files", sum(int(counts.get("files") or 0) for counts in classes.values())
    for cls, counts in classes.items():
        yield f"class.{cls}.n", int(counts.get("n") or 0)
        yield f"class.{cls}.bytes", int(counts.get("bytes") or 0)
    for reason, count in (totals.get("reasons") or {}).items():
        yield f"reason.{reason}", int(count)


def _rows(config: Any, uri: str, part: str) -> Iterator[dict[str, Any]]:
    for chunk in result_rows(config, uri, part):
        yield from chunk


def _create(model: type[M], rows: Iterable[M]) -> None:
    for chunk in _chunks(rows):
        with transaction.atomic():
            model._default_manager.bulk_create(chunk)


def _chunks(rows: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk
