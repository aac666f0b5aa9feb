"""Does anything live lie under a backup? Asked of the metastore's own database before a purge.

A plain IMPORT of an export may leave a table pointing into a backup; purging it would destroy live
data.
"""

import os
from collections.abc import Collection
from functools import reduce
from operator import or_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from lifecycle.jobs.scan_metastore import PASSWORD_VARIABLE
from portal.connectors import metastore_db as sql
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

_LOCATIONS = (
    "SELECT s.[LOCATION] AS [location] FROM [SDS] s",
    "SELECT text(p.[PARAM_VALUE]) AS [location] FROM [SERDE_PARAMS] p WHERE p.[PARAM_KEY] = 'path'",
)


def live_locations_under(
    spark: SparkSession, config: LakeConfig, days: Collection[LakePath]
) -> dict[LakePath, str]:
    """Give, for each day's directory that holds one, a registered location at or under it.

    A location that cannot be read as a plain path (`..`, a control character) but names root and
    day counts as live: nobody can say that it does not lie there.
    """
    # Only narrows the read down, in the database, by what every spelling of such a path must hold:
    # a doubled slash or another scheme may stand around it.
    location = col("location")
    near = [location.contains(day.name) & location.contains(day.parent.name) for day in days]
    rows = _locations(spark, config).filter(reduce(or_, near)).collect()
    found: dict[LakePath, str] = {}
    for (text,) in rows:
        for day in days:
            if day not in found and _lies_under(config, text, day):
                found[day] = text
    return found


def _locations(spark: SparkSession, config: LakeConfig) -> DataFrame:
    database = config.metastore_db
    password = os.environ.get(PASSWORD_VARIABLE) or database.password()
    options = sql.jdbc_options(database, password=password)
    dialect = sql.dialect_of(database)
    read = spark.read.format("jdbc").options(**options)
    tables = [read.options(dbtable=f"({dialect.sql(text)}) q").load() for text in _LOCATIONS]
    return reduce(DataFrame.unionAll, tables)


def _lies_under(config: LakeConfig, text: str, day: LakePath) -> bool:
    try:
        return config.path(text).is_at_or_under(day)
    except RuleViolation:
        return day.name in text and day.parent.name in text
