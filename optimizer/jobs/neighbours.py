"""Refuses removals from a table whose directory is not its own.

Asked of the metastore's own database before anything is removed: a file that two tables share
belongs to both. A location that cannot be read as a plain path counts as a neighbour.
"""

from pyspark.sql import SparkSession

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath
from portal.lake.places import Holder, Neighbours
from portal.spark.registered import RegisteredPlaces, around


def check_alone(
    spark: SparkSession, config: LakeConfig, *, db: str, table: str, place: LakePath
) -> None:
    """Refuse a removal where the table's place is not its own.

    Raises:
        RuleViolation: `removal.shared`, it names one of the others.
    """
    own = Holder(db.lower(), table.lower())
    found = Neighbours(
        [(own, place)],
        read=config.path,
        is_own=lambda seen, mine: seen == mine or seen.is_part_of(mine),
        # A database stands above its tables.
        is_above=lambda seen: bool(seen.table),
    )
    for holder, location in RegisteredPlaces(spark, config).all(around(place)):
        found.see(holder, location)
    other = found.inside(place) or found.above(place)
    if other is not None:
        raise RuleViolation(
            "removal.shared",
            f"{db}.{table} does not have its place for itself: {other.holder} is there too, at "
            f"{other.location}. Files of both lie together, so nothing is removed. Give each a "
            "directory of its own.",
            table=f"{db}.{table}",
        )
