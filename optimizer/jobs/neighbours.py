"""Does anybody else live in a table's directory, or the table in somebody else's?

Asked of the metastore's own database before anything is removed: a file that two tables share
belongs to both. A location that cannot be read as a plain path counts as a neighbour.
"""

import os
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from optimizer.jobs.poll import IN_ENVIRONMENT
from portal.connectors import metastore_db as sql
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

_OF_TABLES = "FROM [TBLS] t JOIN [DBS] d ON d.[DB_ID] = t.[DB_ID] "
_TABLES = (
    "SELECT d.[NAME] AS [db], t.[TBL_NAME] AS [tbl], s.[LOCATION] AS [location] "
    + _OF_TABLES
    + "JOIN [SDS] s ON s.[SD_ID] = t.[SD_ID]",
    "SELECT d.[NAME] AS [db], t.[TBL_NAME] AS [tbl], text(p.[PARAM_VALUE]) AS [location] "
    + _OF_TABLES
    + "JOIN [SDS] s ON s.[SD_ID] = t.[SD_ID] "
    "JOIN [SERDE_PARAMS] p ON p.[SERDE_ID] = s.[SERDE_ID] WHERE p.[PARAM_KEY] = 'path'",
)
_PARTITIONS = (
    "SELECT d.[NAME] AS [db], t.[TBL_NAME] AS [tbl], s.[LOCATION] AS [location] "
    + _OF_TABLES
    + "JOIN [PARTITIONS] p ON p.[TBL_ID] = t.[TBL_ID] JOIN [SDS] s ON s.[SD_ID] = p.[SD_ID]"
)
_DATABASES = "SELECT d.[NAME] AS [db], d.[DB_LOCATION_URI] AS [location] FROM [DBS] d"


def check_alone(
    spark: SparkSession, config: LakeConfig, *, db: str, table: str, place: LakePath
) -> None:
    """Refuse a removal where the table's place is not its own.

    Raises:
        RuleViolation: `removal.shared`, it names one of the others.
    """
    own = f"{db}.{table}".lower()
    for who, location, is_inside_only in _others(spark, config, place):
        if who.lower() == own:
            continue
        if _meets(config, location, place, is_inside_only=is_inside_only):
            raise RuleViolation(
                "removal.shared",
                f"{db}.{table} does not have its place for itself: {who} is there too, at "
                f"{location}. Files of both lie together, so nothing is removed. Give each a "
                "directory of its own.",
                table=f"{db}.{table}",
            )


def _others(
    spark: SparkSession, config: LakeConfig, place: LakePath
) -> Iterator[tuple[str, str, bool]]:
    """Give who lies near, where, and whether it is in the way only if it lies inside.

    A database stands above its tables. Of the partitions, which may be a million, the database
    behind gives only those whose location has what every spelling of such a path must have.
    """
    for row in _read(spark, config, _DATABASES).toLocalIterator():
        yield f"database {row['db']}", row["location"], True
    tables = reduce(DataFrame.unionAll, (_read(spark, config, text) for text in _TABLES))
    partitions = _read(spark, config, _PARTITIONS).where(_may_meet(place))
    for rows in (tables, partitions):
        for row in rows.toLocalIterator():
            yield f"{row['db']}.{row['tbl']}", row["location"], False


def _read(spark: SparkSession, config: LakeConfig, text: str) -> DataFrame:
    database = config.metastore_db
    password = os.environ.get(IN_ENVIRONMENT) or database.password()
    query = sql.dialect_of(database).sql(text)
    options = sql.jdbc_options(database, password=password)
    read: Any = spark.read.format("jdbc").options(**options)
    rows: DataFrame = read.option("dbtable", f"({query}) q").load()
    return rows.where(F.col("location").isNotNull())


def _may_meet(place: LakePath) -> Column:
    location = F.col("location")
    above = place.parent
    found = [location.contains(place.name)]
    while above.depth:
        found += [location.endswith(above.name + slashes) for slashes in ("", "/", "//")]
        above = above.parent
    return reduce(or_, found)


def _meets(config: LakeConfig, location: str, place: LakePath, *, is_inside_only: bool) -> bool:
    try:
        other = config.path(location)
    except RuleViolation:
        return place.name in location
    above = not is_inside_only and place.is_at_or_under(other)
    return above or other.is_at_or_under(place)
