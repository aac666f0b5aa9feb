"""Gives encrypted columns back in Spark, to who has the keys in the environment.

`decrypted(spark.table("ods.users"), "ods.users", ["phone"])` is an example.
"""

import os
from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from pipelines.cdc.protecting.domain.protections import KEY_PREFIX
from pipelines.cdc.protecting.engine.ciphers import opened


def decrypted(rows: DataFrame, table: str, columns: Iterable[str]) -> DataFrame:
    """Return rows of a table of the lake (`db.table`) with some columns as the source had them.

    Values are texts: cast them as needed. A value that cannot be read fails the query.
    """
    # Taken here, for executors have another environment.
    keys = {name: text for name, text in os.environ.items() if name.startswith(KEY_PREFIX)}
    for column in columns:

        def value(stored: str | None, column: str = column) -> str | None:
            return opened(stored, table, column, keys)

        rows = rows.withColumn(column, F.udf(value, StringType())(F.col(column)))
    return rows
