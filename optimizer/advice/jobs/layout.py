"""The program `layout`: what recorded scans would read of some tables in other layouts.

Of each table the largest partition is sampled in the order in which its rows lie, and some files of
all partitions for indexes of the columns that are looked for, and for cubes of what queries group
by; nothing is written. One table that cannot be read does not stop the others.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from optimizer.advice.domain.drawn import HELPED, RecordedScans, drawn_queries
from optimizer.advice.domain.filters import Filter, read_filters
from optimizer.advice.domain.what_if import WhatIf
from optimizer.advice.jobs.cube_options import cube_options
from optimizer.advice.jobs.index_options import index_options
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table, use_iceberg
from optimizer.iceberg.cubing.jobs.table_files import FILE_HASH, TableFile, live_rows, table_files
from optimizer.iceberg.rewrite.domain.layouts import NO_LAYOUT
from optimizer.iceberg.rewrite.domain.value_forms import form_of
from optimizer.iceberg.rewrite.jobs.boundary_sample import compared, nulls_of, use_arrow
from portal.lake.errors import PortalError
from portal.lake.names import quoted
from portal.spark.job import JobContext

MOST_ROWS = 200_000
MOST_COLUMNS = 8
"""Of a table that are tried: those whose scans planned most."""
MOST_NULL = 0.5
OPTIONS_KEPT = 12
GIVEN_UP = "a layout of it was given up within four weeks"
_SEED = 7


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Look at the tables of the request one after the other."""
    use_iceberg(spark, job.config)
    use_arrow(spark)
    found: list[dict[str, Any]] = []
    for n, row in enumerate(job.params["tables"]):
        job.progress("sample", n, len(job.params["tables"]), f"{row['db']}.{row['table']}")
        try:
            table = open_table(spark, row["db"], row["table"], uuid=row["uuid"])
            options = index_options(table, row["candidates"], n_days=row["n_days"])
            cubes = cube_options(table, row.get("cubes", ()))
            layouts = looked(table, row)
            found.append({"id": row["id"], **layouts, "indexes": options, "cubes": cubes})
        except PortalError as error:
            job.log(f"{row['db']}.{row['table']}: {error.code}: {error.message}")
            found.append({"id": row["id"], "problem": error.message})
    return {"tables": found}


def looked(table: IcebergTable, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the layouts tried, the best first, and what was sampled; `problem` says why not."""
    recorded = [
        RecordedScans(
            read_filters(one["filters"]),
            one["n_scans"],
            one["n_files"],
        )
        for one in row["shapes"]
    ]
    files = table_files(table)
    if not files:
        return {"problem": "The table is empty."}
    part = _largest(files)
    n_bytes = sum(one.size for one in part)
    said = {
        "partition": part[0].partition.partition("/")[2],
        "n_files_now": len(part),
        "n_files": max(1, math.ceil(n_bytes / row["target_bytes"])),
        "rewrite_bytes": sum(one.size for one in files),
    }
    wanted = wanted_columns(recorded)
    named = [name for name in wanted if name in row.get("given_up", ())]
    columns, left_out = sampled(table, part, [name for name in wanted if name not in named])
    left_out += [{"column": name, "reason": GIVEN_UP} for name in named]
    if not columns:
        return {**said, "left_out": left_out, "now": 1.0, "options": []}
    queries = drawn_queries(columns, named_filters(recorded, columns))
    what_if = WhatIf(columns, queries, n_files=said["n_files"])
    tried = what_if.tried(list(columns))
    return {
        **said,
        "n_rows": len(next(iter(columns.values()))[1]),
        "n_files_tried": what_if.n_files,
        "left_out": left_out,
        "now": what_if.share(NO_LAYOUT),
        "options": [
            {"layout": str(one.layout), "share": one.share}
            for one in tried[:OPTIONS_KEPT]
            if one.layout
        ],
    }


def named_filters(recorded: Sequence[RecordedScans], columns: Iterable[str]) -> list[RecordedScans]:
    """Return scans whose filters have the names that the schema gives to the sampled columns."""
    real = {name.lower(): name for name in columns}
    return [replace(one, filters=_named(one.filters, real)) for one in recorded]


def _named(filters: Sequence[Filter], real: Mapping[str, str]) -> tuple[Filter, ...]:
    return tuple(one._replace(column=real.get(one.column, one.column)) for one in filters)


def _largest(files: Sequence[TableFile]) -> list[TableFile]:
    """Return the files of the partition of most bytes."""
    by_partition: dict[str, list[TableFile]] = {}
    for one in files:
        by_partition.setdefault(one.partition, []).append(one)
    return max(by_partition.values(), key=lambda part: (sum(one.size for one in part), len(part)))


def wanted_columns(recorded: Sequence[RecordedScans]) -> list[str]:
    """Return the columns that filters name which a layout helps, the dearest first."""
    planned: dict[str, int] = {}
    for scans in recorded:
        for one in scans.filters:
            if one.kind in HELPED:
                planned[one.column] = planned.get(one.column, 0) + max(scans.n_files, scans.n_scans)
    return sorted(planned, key=lambda name: (-planned[name], name))[:MOST_COLUMNS]


def sampled(
    table: IcebergTable, files: Sequence[TableFile], wanted: Sequence[str]
) -> tuple[dict[str, tuple[str, NDArray[Any]]], list[dict[str, str]]]:
    """Read some rows of a partition in their order, by column; the rest says what was left out.

    Names are found whatever their case is; columns come by the names that the schema gives them.
    """
    schema = table.spark.table(table.sql).schema
    types = {field.name.lower(): (field.name, field.dataType.simpleString()) for field in schema}
    forms: dict[str, str] = {}
    left_out: list[dict[str, str]] = []
    for name in wanted:
        if name not in types:
            left_out.append({"column": name, "reason": "not a column of the top level"})
            continue
        try:
            forms[types[name][0]] = form_of(types[name][1])
        except PortalError as error:
            left_out.append({"column": name, "reason": error.message})
    if not forms:
        return {}, left_out
    with live_rows(table, files, {name: quoted(name) for name in forms}) as rows:
        found = _read(rows, forms, n_rows=sum(one.covered.records for one in files))
    order = np.argsort(found["file"].to_numpy(), kind="stable")
    nulls = found["nulls"].to_numpy()[order]
    kept = list(forms)
    for number, name in enumerate(forms):
        share = float(((nulls >> number) & 1).mean()) if len(nulls) else 1.0
        if share > MOST_NULL:
            kept.remove(name)
            left_out.append({"column": name, "reason": f"{100 * share:.0f} % are null"})
    mask = sum(1 << number for number, name in enumerate(forms) if name in kept)
    whole = order[(nulls & mask) == 0]
    if not len(whole):
        return {}, left_out
    return {
        name: (forms[name], found[f"v{number}"].to_numpy()[whole])
        for number, name in enumerate(forms)
        if name in kept
    }, left_out


def _read(rows: DataFrame, forms: Mapping[str, str], *, n_rows: int) -> Any:
    some = rows if n_rows <= MOST_ROWS else rows.sample(MOST_ROWS / n_rows, seed=_SEED)
    return some.select(
        F.col(FILE_HASH).alias("file"),
        nulls_of(list(forms)).alias("nulls"),
        *(compared(name, form).alias(f"v{n}") for n, (name, form) in enumerate(forms.items())),
    ).toPandas()
