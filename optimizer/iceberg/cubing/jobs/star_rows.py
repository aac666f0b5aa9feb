"""Gives base rows of cubes their star-tree: each with its masks, and its copies in star children.

Python only sees codes of dimensions and copies rows; Spark merges the states of equal copies.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType

from optimizer.cubes.domain.definition import Definition
from optimizer.cubes.domain.star_tree import TreeShape, order_of, shape_within, split
from optimizer.iceberg.cubing.jobs.grouping import HAS, STAR, UNIT, cube_columns, merged

_CHUNK = 65_536


def with_star_rows(definition: Definition, base: DataFrame) -> DataFrame:
    """Return the cube's rows with masks; `base` has those of the cube without them."""
    columns = cube_columns(definition)
    plain = base.withColumn(STAR, F.lit(0)).withColumn(HAS, F.lit(0)).select(*columns)
    bits = definition.tree_bits()
    tree = definition.star_tree
    if tree is None or not bits:
        return plain
    dimensions = [one.name for one in definition.dimensions]
    inside = tree.dimensions or tuple(dimensions)
    within = [n for n, name in enumerate(dimensions) if name in inside]
    skipped = frozenset(within) - frozenset(bits)
    max_leaf, budget = tree.max_leaf, tree.budget

    def split_units(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for unit in _units(batches):
            codes = np.stack([_codes(unit.column(name)) for name in dimensions], axis=1)
            wanted = TreeShape(order_of(codes, within), max_leaf, skipped)
            shape = shape_within(codes, wanted, budget)
            yield from _split(unit, dimensions, codes, shape)

    fields = [
        StructField(one.name, one.dataType)
        if one.name not in (STAR, HAS)
        else StructField(one.name, IntegerType())
        for one in plain.schema.fields
    ]
    by_unit = plain.repartition(F.col(UNIT)).sortWithinPartitions(UNIT)
    copies = by_unit.mapInArrow(split_units, StructType(fields))
    return merged(definition, copies, STAR, HAS).select(*columns)


def _units(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of one unit after the other; they come sorted by unit."""
    held: list[pa.RecordBatch] = []
    current = None
    for batch in batches:
        if not len(batch):
            continue
        units = np.asarray(batch.column(0).to_numpy(zero_copy_only=False), dtype=np.int64)
        cuts = [0, *(np.flatnonzero(units[1:] != units[:-1]) + 1).tolist(), len(units)]
        for start, end in pairwise(cuts):
            if current is not None and units[start] != current:
                yield pa.Table.from_batches(held)
                held = []
            current = units[start]
            held.append(batch.slice(start, end - start))
    if held:
        yield pa.Table.from_batches(held)


def _split(
    unit: pa.Table,
    dimensions: list[str],
    codes: NDArray[np.int64],
    shape: TreeShape,
) -> Iterator[pa.RecordBatch]:
    rows = split(codes, shape)
    owners = rows.owners()
    star, has = rows.star[owners].astype(np.int32), rows.has[owners].astype(np.int32)
    for start in range(0, len(owners), _CHUNK):
        part = slice(start, start + _CHUNK)
        taken: Any = pa.array(rows.members[part])
        copies = unit.take(taken).combine_chunks()
        columns = []
        for field in copies.schema:
            column = copies.column(field.name)
            if field.name == STAR:
                column = pa.chunked_array([pa.array(star[part])])
            elif field.name == HAS:
                column = pa.chunked_array([pa.array(has[part])])
            elif field.name in dimensions:
                bit = 1 << dimensions.index(field.name)
                away = (star[part] & bit) != 0
                if away.any():
                    column = pc.if_else(pa.array(away), pa.scalar(None, field.type), column)
            columns.append(column)
        table = pa.table(columns, names=copies.schema.names)
        yield from table.to_batches()


def _codes(column: Any) -> NDArray[np.int64]:
    """Return equal numbers for equal values; a null is 0."""
    encoded: Any = pc.dictionary_encode(column).combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = pa.concat_arrays(encoded.unify_dictionaries().chunks)
    indices = pc.fill_null(encoded.indices.cast(pa.int64()), -1)
    return np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64) + 1
