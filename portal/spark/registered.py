"""Reads where anything is registered from the metastore's own database, by Spark's JDBC reader.

Every catalog, every database, table and partition, storage descriptors, the paths that Spark reads
instead, and the schema files of Avro tables. What is done with a match is the caller's rule; see
`portal.lake.places`.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from portal.connectors import metastore_db as sql
from portal.connectors.lake_config import LakeConfig
from portal.lake.paths import LakePath
from portal.lake.places import Holder

Places = Iterator[tuple[Holder, str]]
# A condition on a column of locations; the database behind applies it, so that few rows come.
Near = Callable[[Column], Column]
_LOCATIONS = ("location", "path")
# A table's places: its data, and the schema file that its readers open.
_OF_TABLES = (sql.TABLE_PLACES, sql.SCHEMA_PLACES)
_NAMES = ("catalog", "db", "tbl", "part_name")
# With more names than this in one condition, a table's rows are read whole.
_MOST_NAMES = 1_000


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed: databases, and tables with the names of their partitions.

    A table without such names was itself made, changed or dropped.
    """

    databases: bool = False
    tables: Mapping[tuple[str, str], Collection[str]] = field(default_factory=dict)

    @property
    def whole_tables(self) -> list[tuple[str, str]]:
        """The tables that were themselves made, changed or dropped."""
        return [key for key, names in self.tables.items() if not names]


class RegisteredPlaces:
    """Reads registered locations with who holds them."""

    def __init__(self, spark: SparkSession, config: LakeConfig) -> None:
        database = config.metastore_db
        password = os.environ.get(sql.PASSWORD_VARIABLE) or database.password()
        self._spark = spark
        self._dialect = sql.dialect_of(database)
        self._options = sql.jdbc_options(database, password=password)

    def all(self, near: Near | None = None) -> Places:
        """Return every registered location for which `near` holds, one statement a kind."""
        yield from self.databases()
        for template in (*_OF_TABLES, sql.PARTITION_PLACES, sql.LOOSE_PLACES):
            yield from _places(self._read(template), near=near)

    def databases(self) -> Places:
        """Return the databases of all catalogs; they are few, so none is left out."""
        yield from _places(self._read(sql.DATABASE_PLACES))

    def outside(self, catalog: str) -> DataFrame:
        """Return what a scan of one catalog does not judge: other catalogs, and what has no table.

        Columns catalog, db, tbl, part_name, location. Databases come whole, because a scan keeps
        no location that it cannot read.
        """
        other = F.col("catalog") != catalog
        parts = [self._read(sql.DATABASE_PLACES)]
        for template in (sql.TABLE_PLACES, sql.PARTITION_PLACES):
            parts.append(self._read(template).where(other))
        parts += [self._read(sql.SCHEMA_PLACES), self._read(sql.LOOSE_PLACES)]
        rows = reduce(lambda one, more: one.unionByName(more, allowMissingColumns=True), parts)
        both = F.explode(F.array(*map(F.col, _LOCATIONS)))
        named = [F.coalesce(name, F.lit("")).alias(name) for name in _NAMES]
        return rows.select(*named, both.alias("location")).where(F.col("location").isNotNull())

    def of(self, changes: Changes, near: Near) -> Places:
        """Return where changed things lie now, as far as `near` holds for partitions."""
        if changes.databases:
            yield from self.databases()
        if not changes.tables:
            return
        if whole := changes.whole_tables:
            for template in _OF_TABLES:
                yield from _places(self._read(template).where(named_tables(whole)))
        yield from _places(
            self._read(sql.PARTITION_PLACES).where(_parts(changes.tables)), near=near
        )

    def _read(self, template: str) -> DataFrame:
        reader = self._spark.read.format("jdbc").options(**self._options)
        return reader.option("dbtable", f"({self._dialect.sql(template)}) q").load()


def under(places: Iterable[LakePath]) -> Near:
    """Return the condition that whatever lies at or under one of `places` meets.

    It only narrows a read: every spelling of such a path holds the names of the place and of the
    directory above it, and a path that is relative may lead anywhere.
    """
    names = [[one.name for one in (place, place.parent) if one.name] for place in places]

    def near(location: Column) -> Column:
        if not all(names):
            return F.lit(col=True)
        held = [reduce(and_, map(location.contains, group)) for group in names]
        return reduce(or_, held, _is_relative(location))

    return near


def around(place: LakePath) -> Near:
    """Return the condition that whatever lies at, under or above a place meets."""
    inside = under([place])

    def near(location: Column) -> Column:
        found, above = inside(location), place.parent
        while above.depth:
            for slashes in ("", "/", "//"):
                found |= location.endswith(above.name + slashes)
            above = above.parent
        return found

    return near


def common_directory(places: Iterable[LakePath]) -> LakePath:
    """Return the deepest directory that holds all of `places`, by their paths alone."""
    paths = [place.path for place in places]
    shared = os.path.commonpath(paths) if paths else "/"
    return LakePath("file", "", shared)


def _is_relative(location: Column) -> Column:
    return ~location.contains(":/") & ~location.startswith("/")


def named_tables(tables: Iterable[tuple[str, str]]) -> Column:
    """Return the condition on `db` and `tbl` that these tables meet."""
    by_db: dict[str, list[str]] = {}
    for db, table in tables:
        by_db.setdefault(db, []).append(table)
    return reduce(
        or_, [(F.col("db") == db) & F.col("tbl").isin(names) for db, names in by_db.items()]
    )


def _parts(tables: Mapping[tuple[str, str], Collection[str]]) -> Column:
    whole = [key for key, names in tables.items() if not names or len(names) > _MOST_NAMES]
    found = [named_tables(whole)] if whole else []
    found += [
        (F.col("db") == db) & (F.col("tbl") == table) & F.col("part_name").isin(list(names))
        for (db, table), names in tables.items()
        if (db, table) not in whole
    ]
    return reduce(or_, found)


def _places(rows: DataFrame, *, near: Near | None = None) -> Places:
    """Return each row's locations: which of two is the effective one is not asked here."""
    columns = [name for name in _LOCATIONS if name in rows.columns]
    if near is not None:
        rows = rows.where(reduce(or_, [near(F.col(name)) for name in columns]))
    for row in rows.toLocalIterator():
        for name in columns:
            if row[name]:
                yield _holder(row), row[name]


def _holder(row: Row) -> Holder:
    known = row.asDict()
    catalog, db, table, partition = (known.get(name) or "" for name in _NAMES)
    return Holder(db, table, partition, catalog)
