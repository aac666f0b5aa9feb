"""Checks the joined tables of a cube, and finds the units that a change of theirs makes wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from optimizer.cubes.domain.coverage import Coverage, JoinedTable
from optimizer.cubes.domain.definition import FACT, Join
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.cubing.jobs.grouping import joined
from optimizer.iceberg.cubing.jobs.sources import Sources
from optimizer.iceberg.cubing.jobs.table_files import FILE_HASH, TableFile, live_rows
from optimizer.iceberg.indexing.jobs.reading import signed
from optimizer.indexes.domain.hashing import hash_bytes
from portal.lake.errors import RuleViolation


def joined_now(sources: Sources) -> dict[str, JoinedTable]:
    """Return the snapshots of the joined tables as they were opened."""
    return {
        one.alias: JoinedTable(one.uuid, (sources.tables[one.alias].snapshot_id,))
        for one in sources.definition.joins
    }


def check_keys(sources: Sources, known: Mapping[str, JoinedTable]) -> None:
    """Refuse a cube of which a joined table has a key twice; snapshots known are not read again.

    Raises:
        RuleViolation: `cube.duplicate_key`, with one such key.
    """
    for one in sources.definition.joins:
        table = sources.tables[one.alias]
        seen = known.get(one.alias)
        if seen and seen.uuid == table.uuid and table.snapshot_id in seen.snapshot_ids:
            continue
        keys = list(dict.fromkeys(right for _, right in one.on))
        with clear_errors(table.name):
            rows = sources.joined_rows(one).dropna(subset=keys).groupBy(*keys).count()
            twice = rows.where("count > 1").limit(1).collect()
        if twice:
            value = ", ".join(f"{key} = {twice[0][key]}" for key in keys)
            raise RuleViolation(
                "cube.duplicate_key",
                f"{table.name} has {twice[0]['count']} rows with {value}; the cube "
                f"{sources.definition.name} joins it as {one.alias} and needs that key unique. "
                "Nothing was built; what is built is not used with this snapshot.",
                table=table.name,
            )


def wrong_units(
    sources: Sources, coverage: Coverage, files: Sequence[TableFile]
) -> tuple[int, ...]:
    """Return the units that changed or removed rows of joined tables make wrong."""
    every = tuple(one.number for one in coverage.units)
    wrong: set[int] = set()
    for one in sources.definition.joins:
        table, known = sources.tables[one.alias], coverage.joined.get(one.alias)
        if known is None or known.uuid != table.uuid:
            return every
        if table.snapshot_id in known.snapshot_ids:
            continue
        old_id = known.snapshot_ids[-1]
        if not old_id or table.java.snapshot(old_id) is None:
            return every
        with clear_errors(table.name):
            old, new = sources.joined_rows(one, snapshot_id=old_id), sources.joined_rows(one)
            changed = old.exceptAll(new).select(*{right for _, right in one.on}).distinct()
            changed = changed.cache()
            if changed.isEmpty():
                continue
            found = _units_with(sources, coverage, files, one, changed)
            changed.unpersist()
        if found is None:
            return every
        wrong |= found
    return tuple(sorted(wrong))


def _units_with(
    sources: Sources,
    coverage: Coverage,
    files: Sequence[TableFile],
    join: Join,
    changed: DataFrame,
) -> set[int] | None:
    """Return the units with a fact row of a changed key; those that cannot be read too.

    A file that went since, by a delete or a rewrite, is not read any more: what was built of it
    would go on to count for earlier snapshots, and in the unit that is merged after the rewrite.
    """
    definition = sources.definition
    live = {one.covered: one for one in files}
    found = {
        one.number
        for one in coverage.units
        if any(coverage.files[n] not in live for n in one.files)
    }
    read = {
        live[coverage.files[n]]: one.number
        for one in coverage.units
        for n in one.files
        if one.number not in found
    }
    if not read:
        return found
    others: dict[str, DataFrame] = {}
    before = definition.joins[: definition.joins.index(join)]
    for one in before:
        known = coverage.joined[one.alias].snapshot_ids[-1]
        if sources.tables[one.alias].java.snapshot(known) is None:
            return None
        others[one.alias] = sources.joined_rows(one, snapshot_id=known)
    part = replace(definition, joins=before)
    with live_rows(sources.fact, list(read), sources.columns_of(FACT)) as rows:
        whole = joined(part, rows, others)
        keys = [F.expr(left).alias(f"k{n}") for n, (left, _) in enumerate(join.on)]
        mine = whole.select(FILE_HASH, *keys)
        same = [mine[f"k{n}"] == changed[right] for n, (_, right) in enumerate(join.on)]
        hit = mine.join(F.broadcast(changed), reduce(lambda a, b: a & b, same), "left_semi")
        hashes = {row[0] for row in hit.select(FILE_HASH).distinct().collect()}
    of_hash = {signed(hash_bytes(f.covered.location.encode())): unit for f, unit in read.items()}
    return found | {of_hash[one] for one in hashes}
