"""Writes the totals of each owner's tables, once per scan, from the scan's own rows."""

from collections import defaultdict

from django.db import transaction
from django.db.models import Count, Sum

from lifecycle.models import OwnerTotals, PathFinding, ScanSnapshot, TableFinding
from portal.runs.results.parquet import CHUNK

SUMMED = (
    *("n_clean_now", "bytes_clean_now", "n_soon", "bytes_soon"),
    *("n_still_read", "bytes_still_read", "n_not_enrolled"),
)
_KEYS = ("db", "owner", "db_owner")


def totals_load(generation: ScanSnapshot, *, n_paths: int) -> int:
    """Write the sums of a picture; written again they are the same. Gives how many rows.

    `n_paths` counts every nonconforming path, also those that no row is kept of.
    """
    sums: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    tables = TableFinding.objects.filter(generation=generation).order_by().values(*_KEYS)
    for row in tables.annotate(**{f"of_{name}": Sum(name) for name in SUMMED}):
        sums[_key(row)] |= {name: row[f"of_{name}"] for name in SUMMED}
    paths = (
        PathFinding.objects.filter(generation=generation, is_excepted=False)
        .order_by()
        .values(*_KEYS)
    )
    for row in paths.annotate(n=Count("pk")):
        sums[_key(row)]["n_paths"] = row["n"]
    whole = {name: sum(part.get(name, 0) for part in sums.values()) for name in SUMMED}
    base = {"generation": generation, "lake": generation.lake}
    rows = [
        OwnerTotals(**base, db=db, owner=owner, db_owner=db_owner, **part)
        for (db, owner, db_owner), part in sums.items()
    ]
    rows.append(OwnerTotals(**base, **whole, n_paths=n_paths))
    OwnerTotals.objects.filter(generation=generation).delete()
    for start in range(0, len(rows), CHUNK):
        with transaction.atomic():
            OwnerTotals.objects.bulk_create(rows[start : start + CHUNK])
    return len(rows)


def _key(row: dict[str, str]) -> tuple[str, str, str]:
    return row["db"], row["owner"], row["db_owner"]
