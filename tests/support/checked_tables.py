"""Tables to measure: a Parquet table of a metastore, and a run of the program in this process."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

import msgspec
from pymetastore.hive_metastore import ttypes
from pyspark.sql import DataFrame, SparkSession

from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from quality.checks.domain.messages import Earlier, Measured, MetricValue, Request, Samples, Task
from quality.checks.jobs import measure
from tests.support.scan_spark import job_for

NOW = datetime(2026, 5, 3, tzinfo=UTC)
_NUMBERS = count(1)
_PARQUET = (
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
)


@dataclass(frozen=True)
class Done:
    """What a run has said of one task."""

    measured: Measured
    samples: Samples

    def of(self, window: str = "") -> dict[str, MetricValue]:
        (found,) = [one for one in self.measured.windows if one.window == window]
        return {one.key: one for one in found.values}

    def values(self, window: str = "") -> dict[str, float | None]:
        return {key: one.value for key, one in self.of(window).items()}

    def earlier(self) -> Earlier:
        """Return what a later measurement is merged into."""
        states = {
            one.window: {v.key: v.state for v in one.values if v.state is not None}
            for one in self.measured.windows
        }
        return Earlier(self.measured.commit, states)


def run(spark: SparkSession, config: LakeConfig, *tasks: Task) -> list[Done]:
    """Measure tasks as a run would."""
    params = {"checks": json.loads(msgspec.json.encode(Request(tasks)))}
    job = job_for(spark, config, params, now=NOW)
    measure.run(spark, job)
    found = []
    for one in tasks:
        parts = [
            job.spool.results.child(folder, f"{one.id}.json") for folder in ("measured", "samples")
        ]
        texts = [job.spool.fs.read(part) for part in parts]
        found.append(
            Done(
                msgspec.json.decode(texts[0], type=Measured),
                msgspec.json.decode(texts[1], type=Samples),
            )
        )
    return found


def measured(spark: SparkSession, config: LakeConfig, task: Task) -> Done:
    """Measure one task."""
    (done,) = run(spark, config, task)
    return done


def hive_table(
    spark: SparkSession,
    config: LakeConfig,
    frame: DataFrame,
    *,
    db: str,
    key: str = "",
    moved: Mapping[str, str] | None = None,
) -> str:
    """Write a frame as a registered Parquet table, a partition for each value of `key`.

    `moved` registers a value's files under another value, as only a metastore can.
    """
    name = f"hive_{next(_NUMBERS)}"
    root = config.path(config.backup_roots[0]).parent.parent.child("user", "checked", name)
    columns = [one for one in frame.schema if one.name != key]
    with Metastore.connect(config) as metastore:
        if db not in metastore.databases():
            metastore.create_database(
                ttypes.Database(
                    name=db, locationUri=str(root.parent), parameters={}, description=""
                )
            )

        def storage(location: str) -> Any:
            return ttypes.StorageDescriptor(
                cols=[
                    ttypes.FieldSchema(one.name, one.dataType.simpleString(), None)
                    for one in columns
                ],
                location=location,
                inputFormat=_PARQUET[0],
                outputFormat=_PARQUET[1],
                numBuckets=-1,
                serdeInfo=ttypes.SerDeInfo(serializationLib=_PARQUET[2], parameters={}),
                bucketCols=[],
                sortCols=[],
                parameters={},
            )

        keys = [ttypes.FieldSchema(key, "string", None)] if key else []
        metastore.create_table(
            ttypes.Table(
                tableName=name,
                dbName=db,
                owner="alice",
                sd=storage(str(root)),
                partitionKeys=keys,
                parameters={"EXTERNAL": "TRUE"},
                tableType="EXTERNAL_TABLE",
            )
        )
        if not key:
            frame.coalesce(1).write.mode("overwrite").parquet(str(root))
            return name
        partitions = []
        for row in frame.select(key).distinct().collect():
            place = str(root.child(f"{key}={row[0]}"))
            frame.where(f"{key} = '{row[0]}'").drop(key).coalesce(1).write.parquet(place)
            value = (moved or {}).get(row[0], row[0])
            partitions.append(
                ttypes.Partition(
                    values=[value], dbName=db, tableName=name, sd=storage(place), parameters={}
                )
            )
        metastore.add_partitions(partitions, if_not_exists=False)
    return name


def changed(task: Task, **other: Any) -> Task:
    """Return a task with something else of it changed."""
    return msgspec.structs.replace(task, **other)
