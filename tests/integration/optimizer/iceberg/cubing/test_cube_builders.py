"""Two builders at once, and one that died between its rows and their coverage."""

from optimizer.cubes.domain.definition import parse
from optimizer.cubes.domain.upkeep import View
from optimizer.iceberg.cubing.jobs.build import CubeBuild, build_batch
from optimizer.iceberg.cubing.jobs.joined_tables import joined_now
from optimizer.iceberg.cubing.jobs.sources import find_sources
from optimizer.iceberg.cubing.jobs.store import CubeStore
from optimizer.iceberg.cubing.jobs.table_files import TableFile, table_files
from tests.support.built_cubes import CubedTable
from tests.support.iceberg_lake import IcebergLake


def _builder(table: CubedTable) -> tuple[CubeBuild, list[TableFile]]:
    opened = table.opened
    sources = find_sources(opened, parse(table.definition()))
    store = CubeStore(opened, sources.definition)
    store.prepare()
    files = table_files(opened)
    live = [one.covered for one in files]
    view = View(1, opened.uuid, opened.snapshot_id, live, joined_now(sources))
    return CubeBuild(sources, store, view), files


def test_of_two_builders_every_file_is_counted_once(iceberg_lake: IcebergLake) -> None:
    table = CubedTable.make(iceberg_lake).fill(2)
    (first, files), (second, _) = _builder(table), _builder(table)
    build_batch([first], files[:3], [set(files)])
    build_batch([second], files, [set(files)])  # does not know of the first
    coverage = table.coverage()
    assert not coverage.exact
    assert len(coverage.units) == 4
    assert table.check().uncovered_files == 0

    table.keep()
    assert table.coverage().exact
    assert table.check(seed=1).uncovered_files == 0


def test_rows_of_a_builder_that_died_are_never_counted(iceberg_lake: IcebergLake) -> None:
    table = CubedTable.make(iceberg_lake).fill(1)
    table.keep()
    cube = table.cube()
    rows = iceberg_lake.spark.table(cube.sql)
    others = [f"`{name}`" for name in rows.columns if name != "unit"]
    again = rows.selectExpr("unit + 1 AS unit", *others)
    again.writeTo(cube.sql).append()  # appended, and no coverage names it
    assert table.check().uncovered_files == 0
    table.fill(1, start=5000)
    table.keep()
    coverage = table.coverage()
    assert coverage.exact
    assert len(coverage.units) == 4
    assert table.check(seed=1).uncovered_files == 0
