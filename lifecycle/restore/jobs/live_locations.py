"""Finds what lives under a backup, in the metastore's own database, before the backup is purged.

A plain IMPORT of an export may leave a table pointing into a backup; purging it would destroy live
data.
"""

from collections.abc import Collection, Sequence

from pyspark.sql import SparkSession

from lifecycle.backup.engine.purge.probes import Occupied
from portal.connectors.lake_config import LakeConfig
from portal.lake.paths import LakePath
from portal.lake.places import Holder, Neighbours
from portal.spark.registered import RegisteredPlaces, under

_BACKUP = Holder("", "backup")


def live_locations_under(
    spark: SparkSession, config: LakeConfig, days: Collection[LakePath]
) -> dict[LakePath, str]:
    """Return, for each day's directory that holds one, a registered location at or under it."""
    found = Neighbours([(_BACKUP, day) for day in days], read=config.path)
    for holder, location in RegisteredPlaces(spark, config).all(under(days)):
        found.see(holder, location)
    seen = {day: found.inside(day) for day in days}
    return {day: one.location for day, one in seen.items() if one is not None}


def occupied(spark: SparkSession, config: LakeConfig) -> Occupied:
    """Return the reader by which a probe asks whether a place belongs to something else."""

    def read(places: Sequence[LakePath]) -> dict[LakePath, str]:
        return live_locations_under(spark, config, places)

    return read
