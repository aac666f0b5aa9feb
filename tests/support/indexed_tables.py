"""Iceberg tables in a folder, read through the plain and through the indexed catalog of Spark."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc
from pyspark.sql import DataFrame, SparkSession

from optimizer.indexes.domain.manifest import (
    BlobKey,
    BlobPlace,
    Covered,
    DataFile,
    Manifest,
    manifest_name,
    write,
)
from optimizer.indexes.domain.puffin import PuffinWriter
from optimizer.indexes.domain.values import column_type
from tests.support.plain_indexes import BlobOf, blob

_FIELD = b"PARQUET:field_id"


@dataclass(frozen=True)
class IndexedTables:
    """Two catalogs over one folder: `plain` and `indexed`."""

    spark: SparkSession
    root: Path

    @classmethod
    def under(cls, spark: SparkSession, root: Path, **settings: str) -> "IndexedTables":
        """Set up both catalogs in a session of their own."""
        session = spark.newSession()
        classes = {
            "plain": "org.apache.iceberg.spark.SparkCatalog",
            "indexed": "lakewarden.indexes.IndexedSparkCatalog",
        }
        for name, implementation in classes.items():
            session.conf.set(f"spark.sql.catalog.{name}", implementation)
            session.conf.set(f"spark.sql.catalog.{name}.type", "hadoop")
            session.conf.set(f"spark.sql.catalog.{name}.warehouse", f"file:{root}")
            session.conf.set(f"spark.sql.catalog.{name}.cache-enabled", "false")
        for key, value in settings.items():
            name = f"spark.sql.catalog.indexed.lakewarden.indexes.{key.replace('_', '-')}"
            session.conf.set(name, value)
        # Java's catalog manager takes the settings of whichever session is active when a catalog is
        # first asked for; a statement makes this one active. Tests of wrong ones ask later.
        for name in () if settings else classes:
            session.sql(f"SHOW NAMESPACES IN {name}").collect()
        return cls(session, root)

    def table(self, name: str) -> "IndexedTable":
        return IndexedTable(self, name)

    def sql(
        self, statement: str, *, catalog: str = "plain", table: str = "", **values: str
    ) -> DataFrame:
        """Run SQL; {t} is the table, {c} the catalog."""
        return self.spark.sql(statement.format(t=f"{catalog}.{table}", c=catalog, **values))

    def same(self, query: str, *, table: str, **values: str) -> tuple[int, int]:
        """Check that both catalogs give the same rows; return the tasks of each."""
        plain, indexed = (
            self.sql(query, catalog=name, table=table, **values) for name in ("plain", "indexed")
        )
        assert _rows(plain) == _rows(indexed), query
        return plain.rdd.getNumPartitions(), indexed.rdd.getNumPartitions()

    @property
    def catalog(self) -> Any:
        """The indexed catalog's Java object."""
        state = self.spark._jsparkSession.sessionState()
        return state.catalogManager().catalog("indexed")

    def report(self) -> Any:
        """What indexes did in the last plan."""
        return self.catalog.reports()[-1]

    def report_of_join(self) -> Any:
        """What indexes did with the keys that the last join found."""
        return [one for one in self.catalog.reports() if one.isOfJoin()][-1]


def _rows(frame: DataFrame) -> list[str]:
    return sorted(repr(row.asDict(recursive=True)) for row in frame.collect())


@dataclass
class IndexedTable:
    """One table, and the indexes that were published of it."""

    lake: IndexedTables
    name: str
    published: dict[str, Covered] = field(default_factory=dict)
    sequence: int = 0

    @property
    def folder(self) -> Path:
        return self.lake.root / self.name.replace(".", "/")

    @property
    def indexes(self) -> Path:
        return self.folder / "_lakewarden" / "indexes"

    @property
    def java(self) -> Any:
        """Iceberg's own table."""
        spark = self.lake.spark
        jvm: Any = spark._jvm
        return jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            spark._jsparkSession, f"plain.{self.name}"
        )

    @property
    def uuid(self) -> UUID:
        return UUID(self.java.uuid().toString())

    def entries(self) -> list[Any]:
        """Return the live data files of all snapshots, with their sequence numbers."""
        return (
            self.lake.sql("SELECT * FROM {t}.all_entries", table=self.name)
            .where("status < 2 AND data_file.content = 0")
            .selectExpr("data_file.*", "file_sequence_number")
            .dropDuplicates(["file_path"])
            .orderBy("file_path")
            .collect()
        )

    def live(self) -> list[str]:
        """Return the data files of the current snapshot."""
        files = self.lake.sql("SELECT file_path FROM {t}.data_files", table=self.name)
        return sorted(row.file_path for row in files.collect())

    def index(self, kinds: Mapping[str, Sequence[str]], *, n: int = 2) -> "IndexedTable":
        """Build these kinds of index of columns, of every data file, and publish them."""
        puffin = PuffinWriter(snapshot_id=1, sequence_number=1)
        name, parts = f"{uuid4()}.puffin", [puffin.start()]
        for entry in self.entries():
            path = Path(entry.file_path.removeprefix("file:"))
            values = self._orc_columns(path, kinds) if _is_orc(path) else _columns(path, kinds)
            places: dict[BlobKey, BlobPlace] = {}
            for column, wanted in kinds.items():
                field_id, iceberg_type, plain = values[column]
                of = column_type(iceberg_type)
                assert of is not None
                for kind in wanted:
                    data = blob(kind, BlobOf(self.uuid, entry.file_path, field_id, of), plain, n=n)
                    manifest_kind = kind.removesuffix(" sliced")
                    offset = puffin.blob(f"lakewarden-{manifest_kind}-v1", field_id, len(data), {})
                    parts.append(data)
                    places[field_id, manifest_kind] = BlobPlace(name, offset, len(data))
            self._cover(entry, places)
        parts.append(puffin.finish())
        (self.indexes / "files").mkdir(parents=True, exist_ok=True)
        (self.indexes / "files" / name).write_bytes(b"".join(parts))
        self.publish()
        return self

    def _orc_columns(
        self, path: Path, names: Iterable[str]
    ) -> dict[str, tuple[int, str, list[Any]]]:
        read, schema = orc.ORCFile(path).read(), self.java.schema()
        return {
            name: (
                schema.findField(name).fieldId(),
                _type(read.schema.field(name).type),
                read.column(name).to_pylist(),
            )
            for name in names
        }

    def _cover(self, entry: Any, places: Mapping[BlobKey, BlobPlace]) -> None:
        path = Path(entry.file_path.removeprefix("file:"))
        offsets = list(entry.split_offsets or [])
        rows = _rows_of_groups(path)
        groups = tuple(zip(offsets, rows, strict=True)) if len(offsets) == len(rows) else ()
        data_file = DataFile(
            entry.file_path,
            entry.file_size_in_bytes,
            entry.record_count,
            entry.file_sequence_number,
            groups,
        )
        before = self.published.get(entry.file_path)
        joined = {**before.blobs, **places} if before else dict(places)
        self.published[entry.file_path] = Covered(data_file, joined)

    def publish(self, **changed: Any) -> Path:
        """Write the next manifest; `changed` are fields of it."""
        self.sequence += 1
        manifest = replace(Manifest(self.uuid, self.sequence, dict(self.published)), **changed)
        folder = self.indexes / "manifests"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / manifest_name(self.sequence, uuid4())
        path.write_bytes(write(manifest))
        return path

    def puffins(self) -> list[Path]:
        return sorted((self.indexes / "files").glob("*.puffin"))


def _is_orc(path: Path) -> bool:
    return path.suffix == ".orc"


def _rows_of_groups(path: Path) -> list[int]:
    """Return the rows of each row group, or stripe."""
    if _is_orc(path):
        file = orc.ORCFile(path)
        return [file.read_stripe(i).num_rows for i in range(file.nstripes)]
    found = pq.ParquetFile(path).metadata
    return [found.row_group(i).num_rows for i in range(found.num_row_groups)]


def _columns(path: Path, names: Iterable[str]) -> dict[str, tuple[int, str, list[Any]]]:
    """Return field id, Iceberg type and values of columns of a file, by their names in it."""
    read = pq.ParquetFile(path).read()
    found = {}
    for name in names:
        top, *nested = name.split(".")
        schema = read.schema.field(top)
        values = read.column(top).to_pylist()
        for part in nested:
            schema = schema.type.field(part)
            values = [None if one is None else one[part] for one in values]
        found[name] = (int((schema.metadata or {})[_FIELD]), _type(schema.type), values)
    return found


def _type(arrow: pa.DataType) -> str:
    if pa.types.is_decimal(arrow):
        return f"decimal({arrow.precision},{arrow.scale})"
    names = {"int32": "int", "int64": "long", "bool": "boolean", "date32[day]": "date"}
    return names.get(str(arrow), str(arrow))
