"""Does anything live lie under a backup root? Asked of the metastore's own database before a purge.

A plain IMPORT of an export may leave a table pointing into a backup; purging it would destroy live
data.
"""

import os
from collections.abc import Collection

from pyspark.sql import SparkSession
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
    spark: SparkSession, config: LakeConfig, roots: Collection[LakePath]
) -> frozenset[LakePath]:
    """Give every registered location, of table or partition, that lies at or under a root."""
    database = config.metastore_db
    dialect = sql.dialect_of(database)
    password = os.environ.get(PASSWORD_VARIABLE) or database.password()
    options = sql.jdbc_options(database, password=password)
    found: set[LakePath] = set()
    for template in _LOCATIONS:
        rows = spark.read.format("jdbc").options(**options, dbtable=f"({dialect.sql(template)}) q")
        for root in roots:
            # Only narrows the read down (in the database); canonical paths decide below.
            near = rows.load().filter(col("location").contains(root.path)).collect()
            found |= {path for row in near if (path := _canonical(config, row[0])) is not None}
    return frozenset(path for path in found if any(path.is_at_or_under(root) for root in roots))


def _canonical(config: LakeConfig, text: str) -> LakePath | None:
    try:
        return config.path(text)
    except RuleViolation:
        return None
