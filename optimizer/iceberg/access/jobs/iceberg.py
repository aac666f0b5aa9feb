"""Opens the lake's Iceberg tables for a job, and reads their metadata.

Thin doors by py4j. A table is opened freshly each time (no catalog cache), because a job lives long
and its name may mean another table by then; the uuid is what identifies it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from py4j.java_gateway import JavaPackage
from pyspark.sql import SparkSession

from optimizer.core.jobs.java_columns import JavaColumns
from optimizer.iceberg.access.jobs.errors import clear_errors, replaced
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.lake.names import quoted

CATALOG = "lake"
_JAR = "iceberg-spark-runtime"


def iceberg_session_settings(config: LakeConfig) -> dict[str, str]:
    """Return the settings that make the lake's Iceberg tables reachable as `lake.<db>.<table>`."""
    prefix = f"spark.sql.catalog.{CATALOG}"
    return {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "hive",
        f"{prefix}.uri": config.metastore_uri,
        f"{prefix}.cache-enabled": "false",
        # Where Iceberg's source looks for a table that was handed to it as an object.
        "spark.sql.catalog.default_cache_iceberg": (
            "org.apache.iceberg.spark.SparkCachedTableCatalog"
        ),
    }


def use_iceberg(spark: SparkSession, config: LakeConfig) -> None:
    """Set the catalog up in a running session; twice is harmless.

    Raises:
        ExternalFailure: `iceberg.jar`, the runtime is not on the class path.
    """
    jvm: Any = spark.sparkContext._jvm
    if isinstance(jvm.org.apache.iceberg.spark.SparkCatalog, JavaPackage):
        raise ExternalFailure(
            "iceberg.jar",
            f"Spark was started without Iceberg: put {_JAR}-3.5_2.12-<version>.jar into "
            f"`spark_jars` of the lake {config.lake}.",
            service="spark",
            retryable=False,
        )
    for key, value in iceberg_session_settings(config).items():
        spark.conf.set(key, value)


@dataclass(frozen=True)
class IcebergTable:
    """One table as it was when it was opened."""

    spark: SparkSession
    db: str
    table: str
    java: Any

    @property
    def name(self) -> str:
        """The name as people write it."""
        return f"{self.db}.{self.table}"

    @property
    def sql(self) -> str:
        """The name as Spark SQL takes it, in our catalog."""
        return f"{CATALOG}.{quoted(self.db)}.{quoted(self.table)}"

    @cached_property
    def columns(self) -> JavaColumns:
        """Reads lists of Java objects."""
        return JavaColumns(self.spark)

    @property
    def jvm(self) -> Any:
        """The driver's JVM."""
        return self.columns.jvm

    @cached_property
    def uuid(self) -> str:
        """What identifies the table, whatever its name."""
        return str(self.java.operations().current().uuid())

    @cached_property
    def format_version(self) -> int:
        """1, 2 or 3."""
        return int(self.java.operations().current().formatVersion())

    @cached_property
    def snapshot(self) -> Any | None:
        """Main's snapshot, None for a table that never had rows."""
        return self.java.currentSnapshot()

    @property
    def snapshot_id(self) -> int:
        """Main's snapshot, 0 for none."""
        return int(self.snapshot.snapshotId()) if self.snapshot is not None else 0

    @cached_property
    def spec_id(self) -> int:
        """The partition spec that writers use now."""
        return int(self.java.spec().specId())

    def spec_for_new(self, spec_id: int) -> int:
        """Return the spec for files that take the place of a spec's files: its own, if it can be.

        Nothing can be written by a spec of which a source column was dropped.
        """
        schema = self.java.schema()
        fields = self.listed(self.java.specs().get(spec_id).fields())
        is_whole = all(schema.findField(one.sourceId()) is not None for one in fields)
        return spec_id if is_whole else self.spec_id

    @cached_property
    def properties(self) -> dict[str, str]:
        """The table's own settings."""
        return {str(key): str(value) for key, value in dict(self.java.properties()).items()}

    @property
    def location(self) -> str:
        """Where the table lies."""
        return str(self.java.location()).rstrip("/")

    @property
    def data_location(self) -> str:
        """Below which folder writers put data files."""
        return self.properties.get("write.data.path", f"{self.location}/data").rstrip("/")

    @property
    def n_rows(self) -> int:
        """The rows in main's files, deleted ones too, as its snapshot says; 0 if it does not."""
        return self._summary("total-records") or 0

    def listed(self, items: Any) -> Any:
        """Return Java's list of what something of Java's iterates over."""
        lists = self.jvm.org.apache.iceberg.relocated.com.google.common.collect.ImmutableList
        return lists.copyOf(items)

    def manifests(self) -> Any:
        """Return Java's list of main's manifests, of data and of delete files."""
        if self.snapshot is None:
            return self.jvm.java.util.ArrayList()
        return self.snapshot.allManifests(self.java.io())

    def totals(self) -> dict[str, int]:
        """Return the whole table's files, bytes and delete files, as main's snapshot sums them up.

        What the snapshot does not say, or says as no number, is left out; a table without a
        snapshot has none of anything.
        """
        found = {
            "n_files": self._summary("total-data-files"),
            "n_bytes": self._summary("total-files-size"),
            "n_delete_files": self._summary("total-delete-files"),
        }
        return {name: total for name, total in found.items() if total is not None}

    def _summary(self, key: str) -> int | None:
        """Read a total of main's snapshot; any writer may have put any text there, or nothing."""
        if self.snapshot is None:
            return 0
        text = str(summary_of(self.snapshot).get(key) or "")
        return int(text) if text.isascii() and text.isdecimal() else None

    def actions(self) -> Any:
        """Return Iceberg's own actions; they run in this session, whichever thread calls them."""
        session = self.spark._jsparkSession
        self.jvm.org.apache.spark.sql.SparkSession.setActiveSession(session)
        return self.jvm.org.apache.iceberg.spark.actions.SparkActions.get(session)

    def again(self) -> "IcebergTable":
        """Open the same table again."""
        return open_table(self.spark, self.db, self.table, uuid=self.uuid)


def summary_of(snapshot: Any) -> Any:
    """Return what a snapshot's writer says of it; writers of the first format may say nothing."""
    return snapshot.summary() or {}


def metadata_of(table: IcebergTable) -> str:
    """Return the location of the metadata file that is the table's as it was opened."""
    return str(table.java.operations().current().metadataFileLocation())


def open_table(spark: SparkSession, db: str, table: str, *, uuid: str = "") -> IcebergTable:
    """Open a table as it stands now; with `uuid` only that one.

    Raises:
        StaleState: `iceberg.gone`, `iceberg.replaced`.
        RuleViolation: `iceberg.not_iceberg`.
    """
    name = f"{db}.{table}"
    jvm: Any = spark.sparkContext._jvm
    session: Any = spark._jsparkSession
    with clear_errors(name):
        catalog = session.sessionState().catalogManager().catalog(CATALOG).icebergCatalog()
        # py4j has no varargs: a namespace is given as an array.
        of = jvm.org.apache.iceberg.catalog.TableIdentifier.of
        opened = IcebergTable(
            spark, db, table, catalog.loadTable(of(java_strings(spark, db, table)))
        )
        if uuid and opened.uuid != uuid:
            raise replaced(name)
        return opened


def java_strings(spark: SparkSession, *texts: str) -> Any:
    """Return an array of Java's strings, as varargs are passed."""
    context: Any = spark.sparkContext
    found = context._gateway.new_array(context._jvm.java.lang.String, len(texts))
    for n, text in enumerate(texts):
        found[n] = text
    return found
