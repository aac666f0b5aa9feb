"""The program `estimate`: checks a cube's definition, and estimates it from data files."""

import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from optimizer.cubes.domain.definition import FACT
from optimizer.cubes.domain.estimates import (
    CubeEstimate,
    SampledFile,
    TreeSample,
    estimated_rows,
    judged,
    spread_files,
)
from optimizer.cubes.domain.types import MAX_DISTINCT
from optimizer.cubes.jobs.schemas import Checked, check_definition
from optimizer.cubes.jobs.tree_sample import AskedOf, sample_tree
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable, open_table, use_iceberg
from optimizer.iceberg.indexing.jobs.coverage import LiveFile, live_files
from optimizer.iceberg.indexing.jobs.reading import staged_rows
from optimizer.iceberg.rewrite.jobs.boundary_sample import use_arrow
from portal.spark.job import JobContext

MOST_FILES, MOST_ROWS = 16, 5_000_000
_MOST_WRITTEN = 100_000
_FILE, _ROWS = "__file", "__rows"
_PRECISION = 0.02


@dataclass
class Found:
    """What the sample told."""

    problems: list[dict[str, str]] = field(default_factory=list)
    files: list[SampledFile] = field(default_factory=list)
    bytes_a_row: float = 0.0
    seconds: float = 0.0
    without: dict[str, float] = field(default_factory=dict)
    dimensions: list[dict[str, Any]] = field(default_factory=list)
    joins: list[dict[str, Any]] = field(default_factory=list)
    tree: TreeSample | None = None


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Check and estimate the request's definition; nothing is built."""
    use_iceberg(spark, job.config)
    use_arrow(spark)
    params = job.params
    table = open_table(spark, params["db"], params["table"], uuid=params["uuid"])
    return estimated(
        table,
        params["definition"],
        told=lambda n_files: job.progress("sample", 0, n_files, table.name),
    )


def estimated(
    table: IcebergTable,
    definition: Mapping[str, Any],
    *,
    told: Callable[[int], None] | None = None,
    asked: Sequence[AskedOf] = (),
) -> dict[str, Any]:
    """Return the definition completed, what is wrong with it, and what a cube of it would hold.

    `told` is given the number of files before they are read. Of a star-tree it says what the
    queries `asked` would read. Arrow is in use.
    """
    files = [one for one in live_files(table) if one.data_file.records]
    sizes = [one.data_file.records for one in files]
    some = [files[at] for at in spread_files(sizes, most_files=MOST_FILES, most_rows=MOST_ROWS)]
    checked = check_definition(table, definition)
    found = Found(problems=list(checked.problems))
    if told is not None:
        told(len(some))
    if not found.problems:
        with clear_errors(table.name):
            _joined_tables(checked, found)
            if some and not found.problems:
                _sample(table, some, checked, found, asked)
    estimate = CubeEstimate(
        n_rows=sum(sizes),
        n_bytes=sum(one.data_file.size for one in files),
        cube_rows=estimated_rows(found.files, sum(sizes)),
        cube_bytes=found.bytes_a_row * estimated_rows(found.files, sum(sizes)),
        build_seconds=found.seconds * sum(sizes) / max(sum(one.n_rows for one in found.files), 1),
        is_exact=len(some) == len(files),
    )
    decision = judged(estimate, found.without)
    return {
        "definition": checked.definition,
        "snapshot_id": table.snapshot_id,
        "n_files": len(files),
        "n_sampled": len(some),
        "n_rows_sampled": sum(one.n_rows for one in found.files),
        **estimate.as_dict(),
        **_tree(found.tree, estimate.cube_rows),
        "problems": found.problems,
        "pays": decision.pays and not found.problems,
        "reason": decision.reason,
        "without": [
            {"dimension": name, "cube_rows": n_rows} for name, n_rows in found.without.items()
        ],
        "dimensions": found.dimensions,
        "joins": found.joins,
    }


def _tree(tree: TreeSample | None, cube_rows: float) -> dict[str, Any]:
    """Return what is told of the star-tree; nothing of a cube without one."""
    if tree is None:
        return {}
    read = {} if tree.read is None else {"star_read": tree.read}
    return {
        **read,
        "star_rows": cube_rows * tree.times,
        "star_leaf": tree.max_leaf,
        "star_files": tree.n_files,
        "star_files_without": tree.n_without,
    }


def _joined_tables(checked: Checked, found: Found) -> None:
    """Check that the key of each joined table is unique."""
    for one in checked.joins:
        keys = [F.col(f"`{key}`") for _, key in one.on]
        rows = one.frame.select(*keys)
        is_null = reduce(lambda a, b: a | b, [key.isNull() for key in keys])
        twice = rows.where(~is_null).groupBy(*keys).count().where("count > 1").limit(1).collect()
        if twice:
            shown = ", ".join(str(value) for value in tuple(twice[0])[:-1])
            found.problems.append(
                {
                    "field": "joins",
                    "message": f"{one.table.name} has the key ({shown}) {twice[0]['count']} times. "
                    "A joined table must have each key once, or sums would be counted twice.",
                    "brief": f"{one.table.name} has a key several times, so sums over the join "
                    "would be counted twice.",
                }
            )
        found.joins.append(
            {
                "alias": one.alias,
                "table": one.table.name,
                "uuid": one.table.uuid,
                "n_rows": rows.count(),
                "snapshot_id": one.table.snapshot_id,
                "n_missing": 0,
            }
        )


def _sample(
    table: IcebergTable,
    files: Sequence[LiveFile],
    checked: Checked,
    found: Found,
    asked: Sequence[AskedOf],
) -> None:
    with _joined(table, files, checked) as rows:
        started = time.monotonic()
        missing = rows.agg(
            *(
                F.sum(F.col(f"`{one.alias}`.`__there`").isNull().cast("long")).alias(f"m{n}")
                for n, one in enumerate(checked.joins)
            ),
            F.count(F.lit(1)).alias("n"),
        ).first()
        for n, one in enumerate(checked.joins):
            n_missing = int((missing and missing[f"m{n}"]) or 0)
            found.joins[n]["n_missing"] = n_missing
            if n_missing:
                found.problems.append(
                    {
                        "field": "joins",
                        "message": f"{n_missing:,} of {int(missing['n']) if missing else 0:,} "
                        f"sampled rows have no partner in {one.table.name}. An inner join would "
                        "lose them, so the cube could not answer queries without the join.",
                    }
                )
        _distinct(rows, checked, found)
        groups = _grouped(rows, checked).persist()
        try:
            by_file = groups.groupBy(_FILE).agg(F.sum(_ROWS).alias("n"), F.count("*").alias("g"))
            counted = by_file.collect()
            found.files = [SampledFile(int(one["n"]), int(one["g"])) for one in counted]
            found.seconds = time.monotonic() - started
            _dimensions(groups, checked, found)
            n_groups = {one[_FILE]: int(one["g"]) for one in counted}
            found.tree = sample_tree(groups, _FILE, n_groups, checked.definition, asked)
            found.bytes_a_row = _bytes_a_row(groups)
        finally:
            groups.unpersist()


@contextmanager
def _joined(
    table: IcebergTable, files: Sequence[LiveFile], checked: Checked
) -> Iterator[DataFrame]:
    """Give the sampled rows with each joined table under its alias, partners or not."""
    names = checked.fact_columns
    with staged_rows(table, files, [f"`{name}`" for name in names] or ["1"]) as staged:
        fact = staged.select(
            F.col("file").alias(_FILE),
            *(F.col(f"c{n}").alias(name) for n, name in enumerate(names)),
        )
        rows = fact.alias(FACT)
        for one in checked.joins:
            on = [F.expr(left) == F.col(f"`{one.alias}`.`{key}`") for left, key in one.on]
            side = one.frame.withColumn("__there", F.lit(1)).alias(one.alias)
            rows = rows.join(side, reduce(lambda a, b: a & b, on), "left")
        yield rows


def _grouped(rows: DataFrame, checked: Checked) -> DataFrame:
    keys = [F.expr(one["expression"]).alias(one["name"]) for one in checked.dimensions]
    states = [
        _state(function, F.expr(one["expression"])).alias(f"{one['name']}_{function}")
        for one in checked.measures
        for function in one["functions"]
    ]
    file = F.col(f"{FACT}.{_FILE}").alias(_FILE)
    return rows.groupBy(file, *keys).agg(F.count(F.lit(1)).alias(_ROWS), *states)


def _state(function: str, value: Any) -> Any:
    if function == "distinct":
        return F.collect_set(value)
    if function == "sketch":
        return F.hll_sketch_agg(value, 12)
    made: Mapping[str, Any] = {"count": F.count, "sum": F.sum, "min": F.min, "max": F.max}
    return made[function](value)


def _distinct(rows: DataFrame, checked: Checked, found: Found) -> None:
    for one in checked.measures:
        if "distinct" not in one["functions"]:
            continue
        n = rows.agg(F.approx_count_distinct(F.expr(one["expression"]))).first()
        if n and n[0] > MAX_DISTINCT:
            found.problems.append(
                {
                    "field": "measures",
                    "message": f"{one['name']} has about {n[0]:,} distinct values in the sample, "
                    f"and `distinct` keeps at most {MAX_DISTINCT:,}. Use `sketch` instead.",
                }
            )


def _dimensions(groups: DataFrame, checked: Checked, found: Found) -> None:
    """Count the values of each dimension, and the rows of the cube without it."""
    names = [one["name"] for one in checked.dimensions]
    of = {name: F.col(f"`{name}`") for name in names}
    asked = []
    for n, name in enumerate(names):
        asked.append(F.approx_count_distinct(of[name], _PRECISION).alias(f"v{n}"))
        others = [F.col(_FILE), *(of[other] for other in names if other != name)]
        # Nulls are hashed like nothing at all, so which of them are null is hashed too.
        flags = [one.isNull() for one in others]
        asked.append(
            F.approx_count_distinct(F.xxhash64(*others, *flags), _PRECISION).alias(f"w{n}")
        )
    row = groups.agg(*asked).first() if asked else None
    n_groups = sum(one.n_groups for one in found.files)
    whole = estimated_rows(found.files, 1)
    for n, name in enumerate(names):
        found.dimensions.append(
            {
                "name": name,
                "expression": checked.dimensions[n]["expression"],
                "type": checked.dimensions[n]["type"],
                "n_values": int(row[f"v{n}"]) if row else 0,
            }
        )
        left = min(int(row[f"w{n}"]) if row else 0, n_groups)
        found.without[name] = left / max(n_groups, 1) * whole
    # Shares of a row until here; the caller's table has this many rows.
    n_rows = checked.n_rows
    found.without = {name: share * n_rows for name, share in found.without.items()}


def _bytes_a_row(groups: DataFrame) -> float:
    """Return what a row of the cube takes as Parquet, by writing some of them into memory."""
    some = groups.drop(_FILE).limit(_MOST_WRITTEN).toPandas()
    if not len(some):
        return 0.0
    try:
        rows = pa.Table.from_pandas(some, preserve_index=False)
        return (_written(rows) - _written(rows.slice(0, 0))) / len(some)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return 0.0


def _written(rows: pa.Table) -> int:
    sink = io.BytesIO()
    pq.write_table(rows, sink, compression="zstd")
    return len(sink.getvalue())
