"""The scan: reads the metastore's database and the file system, judges all, writes Parquet.

Flow 1 up to the spool; the portal loads the result afterwards. A metastore that is down, slow, or
answers with half of yesterday ends the run with a clear error, and the last good picture stands.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lifecycle.expiry.domain.rule import RECENTLY_READ_DAYS, SOON_DAYS, Terms
from lifecycle.inventory.jobs import results
from lifecycle.inventory.jobs.files import DEFAULT_CALLS_PER_SECOND, FileFunctions
from lifecycle.inventory.jobs.holds import Holds
from lifecycle.inventory.jobs.image import NamespaceImage, open_image
from lifecycle.inventory.jobs.items import ALL_COLUMNS, ItemSources, build_items, in_order, numbered
from lifecycle.inventory.jobs.metastore import MetastoreReader, PartitionCounts
from lifecycle.inventory.jobs.plausibility import Inventory, check_inventory
from lifecycle.inventory.jobs.shared_locations import odd_tables, shared_rows, unknown_file_systems
from lifecycle.inventory.jobs.spread import spread_rows
from lifecycle.inventory.jobs.tables import Catalog, build_catalog, unclear_policies
from lifecycle.inventory.jobs.touched import postponed, touched_rows
from lifecycle.rules.domain.conformity import Reason
from portal.connectors.metastore import Metastore
from portal.events.change_log import Touched, touched_since
from portal.lake.clock import day_of
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from portal.spark.job import JobContext
from portal.spark.registered import RegisteredPlaces
from portal.spark.watch import watched

_UNREACHABLE = "lakewarden.filesystem.unreachable"
_DATABASE_ERRORS = ("java.sql.", "org.mariadb.jdbc", "org.apache.derby", "com.mysql.")
_SMALL = 50_000
_ROWS_PER_SUM = 250_000
_SETTINGS = {
    # The plan is laid out by hand: one shuffle, its partitions in order.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.parquet.compression.codec": "snappy",
    # Else each step of the judgement copies every row whole.
    "spark.sql.optimizer.collapseProjectAlwaysInline": "true",
    # Of many columns and few constants: it walks the whole plan again and again for nothing.
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.FoldablePropagation"
    ),
    # Compiling a plan costs more than a small lake's rows; `_tune` turns it on for a big one.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # The JVM interprets a method above 8,000 bytes for ever; Spark's own limit is 65,535.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Scan the lake; the result's rows are in the spool, the numbers in the manifest."""
    for key, value in _SETTINGS.items():
        spark.conf.set(key, value)
    with _translated():
        return Scan(spark, job).run()


class Scan:
    """One scan, phase by phase."""

    def __init__(self, spark: SparkSession, job: JobContext) -> None:
        self.spark, self.job, self.config = spark, job, job.config
        params = job.params
        self.terms = Terms(
            now=job.now,
            zone=job.config.zone,
            soon_days=int(params.get("soon_days", SOON_DAYS)),
            still_read_days=int(params.get("still_read_days", RECENTLY_READ_DAYS)),
        )
        self.reader = MetastoreReader(spark, job.config)
        self.places = RegisteredPlaces(spark, job.config)
        self.files = FileFunctions(
            spark,
            job.config,
            calls_per_second=float(params.get("calls_per_second", DEFAULT_CALLS_PER_SECOND)),
            access_times=bool(params.get("access_times", True)),
        )
        self.n_buckets = 1
        self.schema = StructType()
        self.seconds: dict[str, float] = {}
        self.image_as_of: datetime | None = None

    def run(self) -> dict[str, Any]:
        """Read, judge, compare with what changed meanwhile, sum up."""
        read_at = datetime.now(UTC)
        with Metastore.connect(self.config) as metastore:
            event_id = metastore.current_notification_id()
        with self._phase("metastore"):
            catalog, counts = self._catalog()
            self._tune(counts.total + len(catalog.tables))
        work = self.job.spool.root.child("work")
        with self._phase("items"):
            built = self._build(catalog, counts)
            self.schema = built.schema
            built.write.parquet(str(work))
        with self._phase("changes"):
            items = self._settle(work, catalog, event_id)
        with self._phase("summary"):
            result = self._summarise(items, catalog)
        return result | {
            "read_at": read_at.isoformat(),
            "notification_id": event_id,
            "image_as_of": self.image_as_of.isoformat() if self.image_as_of else None,
            "phases": {name: round(took, 2) for name, took in self.seconds.items()},
        }

    def _catalog(self) -> tuple[Catalog, PartitionCounts]:
        databases, tables, parameters, counts = side_by_side(
            self.reader.databases,
            self.reader.tables,
            self.reader.parameters,
            self.reader.partition_counts,
        )
        inventory = Inventory(len(databases), len(tables), counts.total)
        params = self.job.params
        previous, accepted = params.get("previous"), params.get("accepted")
        check_inventory(inventory, previous, config=self.config, accepted=accepted)
        catalog = build_catalog(
            databases,
            tables,
            parameters,
            config=self.config,
            params=self.job.params,
            today=day_of(self.job.now, self.config.zone),
        )
        if unclear := unclear_policies(catalog.tables):
            self.job.log(unclear)
        self.job.progress("metastore", len(tables), len(tables), f"{inventory}")
        return catalog, counts

    def _tune(self, n_rows: int) -> None:
        """Spend no more on planning and compiling than a small lake is worth."""
        self.spark.conf.set("spark.sql.shuffle.partitions", str(1 + n_rows // _ROWS_PER_SUM))
        if n_rows > _SMALL:
            self.spark.conf.set("spark.sql.codegen.wholeStage", "true")
            self.spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")

    def _build(self, catalog: Catalog, counts: PartitionCounts) -> DataFrame:
        spread = spread_rows(self.reader, catalog.tables, counts)
        self.n_buckets = spread.n_buckets
        sources = ItemSources(
            spark=self.spark,
            tables=catalog.tables,
            partitions=self.reader.partitions(counts),
            spread=spread,
            holds=Holds(self.spark, self.job.params.get("holds", ()), now=self.job.now),
            files=self.files,
            terms=self.terms,
            image=self._image(),
        )
        return build_items(sources)

    def _image(self) -> NamespaceImage | None:
        """Open the dump of the name node's image, if the lake has one that is fit for use."""
        image = open_image(self.spark, self.config, now=self.job.now)
        if isinstance(image, str):
            if image:
                self.job.log(image)
            return None
        self.image_as_of = image.as_of
        self.job.log(
            f"Directories unchanged since {image.as_of:%Y-%m-%d %H:%M} UTC are not walked: "
            "what is in them comes from the name node's image."
        )
        return image

    def _settle(self, work: LakePath, catalog: Catalog, event_id: int) -> DataFrame:
        """Correct the rows for shared locations and changes during the scan, if there are any."""
        fs, target = self.job.spool.fs, self.job.spool.results.child("items")
        fs.make_directory(self.job.spool.results, mode=0o700)
        items = self.spark.read.schema(self.schema).parquet(str(work))
        with Metastore.connect(self.config) as metastore:
            touched = touched_since(metastore, event_id)
        corrections = self._corrections(items, catalog, touched)
        if corrections:
            corrected = items
            for column, rows in corrections.items():
                corrected = corrected.drop(column).join(rows, ["tbl_id", "part_id"], "left")
            if "changed_at" in corrections:
                corrected = postponed(corrected)
            ordered = in_order(corrected, self.n_buckets)
            numbered(ordered, self.files).select(*ALL_COLUMNS).write.parquet(str(target))
        else:
            fs.rename(work, target)
        return self.spark.read.schema(self.schema).parquet(str(target))

    def _corrections(
        self, items: DataFrame, catalog: Catalog, touched: list[Touched]
    ) -> dict[str, DataFrame]:
        """Return the columns to correct with their rows; what corrects nothing is left out."""
        found = {}
        odd = odd_tables(items, catalog)
        if odd:
            found["shared_with"] = shared_rows(items, odd, catalog, self.spark)
        if touched:
            found["changed_at"] = touched_rows(items, touched, self.spark)
        kept = {name: rows.persist(StorageLevel.MEMORY_AND_DISK) for name, rows in found.items()}
        counts = {name: rows.count() for name, rows in kept.items()}
        self.job.log(f"{len(odd)} odd tables, {len(touched)} changes, corrected rows: {counts}")
        return {name: rows for name, rows in kept.items() if counts[name]}

    def _summarise(self, items: DataFrame, catalog: Catalog) -> dict[str, Any]:
        runs = results.build_runs(items).persist(StorageLevel.MEMORY_AND_DISK)
        tables = results.tables(runs, catalog, self.spark)
        side_by_side(
            lambda: self._write("ranges", results.ranges(runs)),
            lambda: self._write("examples", results.examples(items)),
            lambda: self._write("findings", results.findings(items, catalog, self.spark)),
            lambda: self._write("others", results.others(self.places)),
        )
        totals: dict[str, Any]
        totals, *_ = side_by_side(
            lambda: results.totals(runs),
            lambda: self._write("tables", tables),
            lambda: self._write("databases", results.databases(tables, catalog, self.spark)),
        )
        reasons: Counter[str] = Counter(
            reason.value
            for finding in (
                *catalog.findings.databases.values(),
                *(table.finding for table in catalog.tables),
            )
            for reason in finding.reasons
        )
        reasons[Reason.PART_PATH_NOT_IN_TBL.value] += totals.pop("n_outside")
        return totals | {
            "n_databases": len(catalog.databases),
            "n_tables": len(catalog.tables),
            "n_views": catalog.findings.n_views_skipped,
            "reasons": {reason: n for reason, n in sorted(reasons.items()) if n},
            "missing_directories": totals.pop("n_missing"),
            "unknown_file_systems": unknown_file_systems(items, catalog, self.config),
        }

    def _write(self, name: str, rows: DataFrame) -> None:
        rows.write.parquet(str(self.job.spool.results.child(name)))

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        with watched(self.job, name):
            yield
        self.seconds[name] = time.monotonic() - started


def side_by_side(*steps: Callable[[], Any]) -> tuple[Any, ...]:
    """Run Spark actions at once, since planning one leaves the cores idle; raises the first error.

    The watched phase cancels them together: it cancels every job of the session.
    """
    with ThreadPoolExecutor(len(steps), thread_name_prefix="scan") as pool:
        return tuple(step.result() for step in [pool.submit(step) for step in steps])


@contextmanager
def _translated() -> Iterator[None]:
    """Say whose fault a failed Spark action is."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        said = str(error)
        if _UNREACHABLE in said:
            detail = said.split(_UNREACHABLE, 1)[1].splitlines()[0].strip()
            raise ExternalFailure(
                "filesystem.unreachable",
                f"The lake's file system does not answer: {detail}",
                service="filesystem",
                retryable=True,
            ) from error
        if any(name in said for name in _DATABASE_ERRORS):
            raise ExternalFailure(
                "metastore_db.failed",
                "The metastore's database failed or did not answer in time: "
                f"{_database_message(said)}",
                service="metastore_db",
                retryable=True,
            ) from error
        raise


def _database_message(said: str) -> str:
    """Find the line in which the driver says what is wrong."""
    lines = [line for line in said.splitlines() if any(name in line for name in _DATABASE_ERRORS)]
    named = [line for line in lines if not line.lstrip().startswith("at ")]
    return (named or lines)[0].strip()[:300]
