"""Opens a Hudi table for a job, and reads its settings.

Thin doors by py4j to Hudi's own classes. A table is found by its location, as the metastore has
it; no catalog and no SQL extension takes part, so the session may be anybody's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property, lru_cache
from typing import Any

from py4j.java_gateway import JavaPackage
from pyspark.sql import SparkSession

from optimizer.core.jobs.java_columns import JavaColumns
from optimizer.hudi.inspect.domain.facts import PROPERTIES, HudiTable, TableType
from optimizer.hudi.tables.jobs.errors import (
    NEW_VERSION,
    broken,
    clear_errors,
    error_text,
    gone,
    not_hudi,
    old_version,
    sorted_error,
)
from optimizer.hudi.tables.jobs.times import instant_at
from portal.lake.errors import ExternalFailure
from portal.spark.java_errors import JAVA_ERRORS

HUDI = "org.apache.hudi.common"
OPTION = f"{HUDI}.util.Option"
_ENTRY = "java.util.Map$Entry"
_FIRST_VERSION, _LAYOUT = 8, 2
_SPARK_ZONE = "spark.sql.session.timeZone"
_KRYO = "org.apache.spark.serializer.KryoSerializer"


@dataclass(frozen=True)
class OpenedTable:
    """One table as it was when it was opened; `metastore` is what the metastore says of it."""

    spark: SparkSession
    name: str
    location: str
    lake_zone: tzinfo
    java: Any
    metastore: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def columns(self) -> JavaColumns:
        """Reads lists of Java objects."""
        return _columns(self.spark)

    @property
    def jvm(self) -> Any:
        """The driver's JVM."""
        return self.columns.jvm

    @property
    def hudi(self) -> Any:
        """Hudi's packages."""
        return self.jvm.org.apache.hudi

    @cached_property
    def engine(self) -> Any:
        """What Hudi runs its own work on."""
        return self.hudi.client.common.HoodieSparkEngineContext(self.spark._jsc)

    @cached_property
    def config(self) -> Any:
        """hoodie.properties."""
        return self.java.getTableConfig()

    @cached_property
    def written(self) -> dict[str, str]:
        """The properties of hoodie.properties."""
        entries = self.jvm.java.util.ArrayList(self.config.propsMap().entrySet())
        keys, values = (
            self.columns.read(entries, self.columns.step(_ENTRY, method))
            for method in ("getKey", "getValue")
        )
        return dict(zip(keys, values, strict=True))

    @cached_property
    def version(self) -> int:
        """hoodie.table.version."""
        return int(self.config.getTableVersion().versionCode())

    @cached_property
    def layout(self) -> int:
        """hoodie.timeline.layout.version."""
        return int(self.java.getTimelineLayoutVersion().getVersion())

    @property
    def is_supported(self) -> bool:
        """Whether its timeline is of a form that we know."""
        return self.version >= _FIRST_VERSION and self.layout == _LAYOUT

    @cached_property
    def table_type(self) -> TableType:
        """Copy-on-write or merge-on-read."""
        return TableType(str(self.java.getTableType().name()))

    @cached_property
    def metadata_partitions(self) -> frozenset[str]:
        """What its metadata table holds; nothing where there is none."""
        return frozenset(map(str, self.config.getMetadataPartitions()))

    @cached_property
    def zone(self) -> tzinfo:
        """In which zone the digits of its instants are."""
        return UTC if str(self.config.getTimelineTimezone()) == "UTC" else self.lake_zone

    def at(self, digits: str) -> datetime:
        """Return the time of one of its instants."""
        return instant_at(digits, self.zone)

    def facts(self, faults: Iterable[str] = ()) -> HudiTable:
        """Return its settings as the domain has them."""
        both = {**self.written, **self.metastore}
        fields = str(self.config.getPartitionFieldProp() or "")
        return HudiTable(
            location=self.location,
            table_type=self.table_type,
            version=self.version,
            layout_version=self.layout,
            partition_fields=tuple(one.strip() for one in fields.split(",") if one.strip()),
            record_key=str(self.config.getRecordKeyFieldProp() or ""),
            is_metadata_on=bool(self.metadata_partitions),
            properties={key: both[key] for key in PROPERTIES if key in both},
            faults=tuple(faults),
        )

    def path(self, *below: str) -> Any:
        """Return a path below the table as Hudi's class."""
        return self.hudi.storage.StoragePath("/".join((self.location, *below)))

    def listed(self, stream: Any) -> Any:
        """Return Java's list of a stream."""
        return stream.collect(self.jvm.java.util.stream.Collectors.toList())

    def again(self) -> "OpenedTable":
        """Open the same table again."""
        return open_table(
            self.spark,
            self.name,
            self.location,
            lake_zone=self.lake_zone,
            metastore=self.metastore,
        )

    def check_supported(self) -> None:
        """Refuse a table whose timeline is of Hudi 0.x.

        Raises:
            RuleViolation: `hudi.old_version`.
        """
        if not self.is_supported:
            raise old_version(self.name, self.version, self.layout)


@lru_cache(maxsize=1)
def _columns(spark: SparkSession) -> JavaColumns:
    """Return the reader that all tables of a session share, with the steps that it knows."""
    return JavaColumns(spark)


def use_hudi(spark: SparkSession, *, lake: str, writing_in: tzinfo | None = None) -> None:
    """Make sure that the session can read Hudi tables.

    To write them it must be able to, and make its instants in the lake's time zone, which Hudi
    takes from the JVM when it is first used.

    Raises:
        ExternalFailure: `hudi.jar`, `hudi.serializer`, `hudi.zone`.
    """
    jvm: Any = spark.sparkContext._jvm
    if writing_in is not None:
        # Spark's own zone stays what it is.
        spark.conf.set(_SPARK_ZONE, str(spark.conf.get(_SPARK_ZONE)))
        jvm.java.util.TimeZone.setDefault(jvm.java.util.TimeZone.getTimeZone(str(writing_in)))
    if isinstance(jvm.org.apache.hudi.common.table.HoodieTableMetaClient, JavaPackage):
        raise ExternalFailure(
            "hudi.jar",
            "Spark was started without Hudi: put hudi-spark3.5-bundle_2.12-<version>.jar into "
            f"`spark_jars` of the lake {lake}.",
            service="spark",
            retryable=False,
        )
    if writing_in is None:
        return
    if spark.sparkContext.getConf().get("spark.serializer") != _KRYO:
        raise ExternalFailure(
            "hudi.serializer",
            f"Hudi writes with Kryo only: put spark.serializer={_KRYO} and spark.kryo.registrator="
            f"org.apache.spark.HoodieSparkKryoRegistrar into `spark_conf` of the lake {lake}.",
            service="spark",
            retryable=False,
        )
    zone = jvm.org.apache.hudi.common.model.HoodieTimelineTimeZone.LOCAL.getZoneId()
    offset = zone.getRules().getOffset(jvm.java.time.Instant.now()).getTotalSeconds()
    if timedelta(seconds=int(offset)) != datetime.now(writing_in).utcoffset():
        raise ExternalFailure(
            "hudi.zone",
            f"Hudi was used in this Spark in the time zone {zone.getId()} before, and the lake "
            f"{lake} is in {writing_in}: its instants would not follow on those of the writers. "
            "Start a new Spark application.",
            service="spark",
            retryable=True,
        )


def open_table(
    spark: SparkSession,
    name: str,
    location: str,
    *,
    lake_zone: tzinfo,
    metastore: Mapping[str, str] | None = None,
) -> OpenedTable:
    """Open a table as it stands now.

    Raises:
        StaleState: `hudi.gone`, its folder has vanished.
        RuleViolation: `hudi.not_hudi`, `hudi.new_version`.
        ExternalFailure: `hudi.broken`, hoodie.properties cannot be read.
    """
    context: Any = spark.sparkContext
    jvm: Any = context._jvm
    place = location.rstrip("/")
    with clear_errors(name):
        hadoop = context._jsc.hadoopConfiguration()
        _check_there(jvm, hadoop, name, place)
        conf = jvm.org.apache.hudi.hadoop.fs.HadoopFSUtils.getStorageConf(hadoop)
        builder = jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder()
        try:
            java = builder.setConf(conf).setBasePath(place).build()
            opened = OpenedTable(spark, name, place, lake_zone, java, dict(metastore or {}))
            opened.facts()
        except JAVA_ERRORS as error:
            found = sorted_error(error, name)
            if found.code == NEW_VERSION or "HoodieIOException" in error_text(error):
                raise found from error
            raise broken(
                name, f"Its hoodie.properties cannot be read ({error_text(error)})"
            ) from error
    return opened


def _check_there(jvm: Any, hadoop: Any, name: str, place: str) -> None:
    path = jvm.org.apache.hadoop.fs.Path
    files = path(place).getFileSystem(hadoop)
    if not files.exists(path(place)):
        raise gone(name, place)
    # The backup is there while a writer changes the properties, and after it died doing so.
    names = ("hoodie.properties", "hoodie.properties.backup")
    if not any(files.exists(path(f"{place}/.hoodie/{one}")) for one in names):
        raise not_hudi(name, place)
