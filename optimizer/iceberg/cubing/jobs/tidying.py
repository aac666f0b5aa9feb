"""Removes from a cube's table the rows of units that no coverage names any more."""

from optimizer.cubes.domain.coverage import Coverage
from optimizer.cubes.domain.upkeep import composed
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.cubing.jobs.build import CubeBuild
from portal.lake.names import quoted

_WORTH = 0.1
"""Rows are removed when so many of the cube's are of no unit; until then readers filter."""


def dead_units(fact: IcebergTable, coverage: Coverage) -> tuple[int, ...]:
    """Return the units of which a file is in no snapshot of the table."""
    asked = [(one.location,) for one in coverage.files]
    live = [coverage.files[n] for unit in coverage.units if unit.is_live for n in unit.files]
    if len(live) == len(asked):
        return ()
    spark = fact.spark
    with clear_errors(fact.name):
        named = spark.table(f"{fact.sql}.all_data_files").select("file_path").distinct()
        rows = spark.createDataFrame(asked, "file_path string")
        gone = {str(row[0]) for row in rows.join(named, "file_path", "left_anti").collect()}
    return tuple(
        one.number
        for one in coverage.units
        if any(coverage.files[n].location in gone for n in one.files)
    )


def tidy(build: CubeBuild, coverage: Coverage) -> Coverage:
    """Drop units of dead files, and remove rows of no unit where that is worth a rewrite."""
    dead = dead_units(build.sources.fact, coverage)
    if dead:
        coverage = build.store.publish(lambda now: composed(now, build.view, drop=dead))
        build.progress.n_units_gone += len(dead)
    if coverage.exact:
        return coverage
    store, spark = build.store, build.sources.fact.spark
    with clear_errors(build.definition.cube_table):
        known = spark.createDataFrame([(u.number,) for u in coverage.units], "unit long")
        counts = spark.table(store.sql).groupBy("unit").count()
        unknown = counts.join(known, "unit", "left_anti").cache()
        n_unknown = sum(int(row["count"]) for row in unknown.collect())
        n_rows = spark.table(store.sql).count()
        if n_unknown and n_unknown < n_rows * _WORTH:
            return coverage
        if n_unknown:
            view = f"lakewarden_cube_{build.definition.name}"
            unknown.select("unit").createOrReplaceTempView(view)
            named = f"(SELECT unit FROM {quoted(view)})"  # noqa: S608 - the name is quoted
            spark.sql(f"DELETE FROM {store.sql} WHERE unit IN {named}")  # noqa: S608 - the name is quoted
            spark.catalog.dropTempView(view)
    return store.publish_exact(lambda now: composed(now, build.view))
