"""Counts the items of each table by age, once when a scan is loaded, for every what-if.

Reads only what the scan publishes of its items, one file at a time; tables outside lifecycle are
counted too, as far as the scan looked at them, because those are what an enrollment asks about.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction

from lifecycle.backup.selectors import holds_active
from lifecycle.expiry.domain.what_if import Ages, Amount, Bucket
from lifecycle.expiry.services.buckets import COLUMNS, Known, Name, with_buckets
from lifecycle.models import ScanSnapshot, TableAges, TableFinding
from portal.access.lakes import get_lake
from portal.runs.results.parquet import CHUNK, result_tables

_KEYS = ["tbl_id", "bucket", "age"]
_SUMS = ("n", "n_bytes", "n_files", "n_unmeasured")


def table_ages_load(generation: ScanSnapshot) -> int:
    """Store the counts of every table of a picture that has items; repeated, the same again."""
    config, uri = get_lake(generation.lake), generation.results_uri
    files = result_tables(config, uri, "items", columns=COLUMNS)
    findings = TableFinding.objects.filter(generation=generation)
    keys = dict(findings.values_list("tbl_id", "pk").iterator(chunk_size=CHUNK))
    rows = (
        TableAges(table_id=keys[tbl_id], counts=ages.to_json())
        for tbl_id, ages in count_ages(files, _known(generation))
        if tbl_id in keys
    )
    n_rows = 0
    while part := list(islice(rows, CHUNK)):
        with transaction.atomic():
            TableAges.objects.filter(pk__in=[row.pk for row in part]).delete()
            TableAges.objects.bulk_create(part)
        n_rows += len(part)
    return n_rows


def count_ages(files: Iterable[pa.Table], known: Known) -> Iterator[tuple[int, Ages]]:
    """Count the items of every table, by table id; only the sums of a file are kept."""
    parts = [_summed(with_buckets(table, known)) for table in files]
    if not parts:
        return
    whole = _group(pa.concat_tables(parts)).sort_by("tbl_id")
    rows = (row for batch in whole.to_batches(max_chunksize=CHUNK) for row in batch.to_pylist())
    for tbl_id, mine in groupby(rows, key=lambda row: row["tbl_id"]):
        yield (
            tbl_id,
            Ages(
                {
                    (Bucket(row["bucket"]), row["age"]): Amount(*(row[name] or 0 for name in _SUMS))
                    for row in mine
                }
            ),
        )


def _summed(items: pa.Table) -> pa.Table:
    """Sum one file's items by table, bucket and age."""
    unmeasured = pc.cast(pc.is_null(items["n_bytes"]), pa.int64())
    ones = pa.array([1], pa.int64()).take(pa.array([0] * items.num_rows, pa.int64()))
    kept = items.select([*_KEYS, "n_bytes", "n_files"])
    counted = kept.append_column("n", ones).append_column("n_unmeasured", unmeasured)
    return _group(counted)


def _group(rows: pa.Table) -> pa.Table:
    summed = rows.group_by(_KEYS).aggregate([(name, "sum") for name in _SUMS])
    return summed.select([*_KEYS, *(f"{name}_sum" for name in _SUMS)]).rename_columns(
        [*_KEYS, *_SUMS]
    )


def _known(generation: ScanSnapshot) -> Known:
    broken = TableFinding.objects.filter(generation=generation).exclude(reasons=[])
    holds = holds_active(generation.lake, now=generation.as_of)
    return Known(
        as_of=generation.as_of,
        nonconforming=frozenset(broken.values_list("tbl_id", flat=True)),
        outside=frozenset(_outside(generation)),
        held=frozenset((hold.db, hold.table, hold.partition) for hold in holds),
    )


def _outside(generation: ScanSnapshot) -> Iterator[Name]:
    """Name the partitions that lie outside their table, enrolled or not; not what is waived."""
    config, uri = get_lake(generation.lake), generation.results_uri
    columns = ("kind", "db", "tbl", "part_name", "reasons")
    for table in result_tables(config, uri, "findings", columns=columns):
        for row in table.filter(pc.field("kind") == "PARTITION").to_pylist():
            if row["reasons"]:
                yield row["db"], row["tbl"], row["part_name"]
