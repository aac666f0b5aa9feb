"""Protects columns in Spark: the executors do it, with keys of the driver's environment.

Keys travel inside the function, never in the text of a plan, which logs and Spark's pages show.
"""

import json
import os
from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from pipelines.cdc.protecting.domain.protections import Protection
from pipelines.cdc.protecting.engine.ciphers import Protector
from portal.lake.errors import RuleViolation


def protectors(table: str, protections: Mapping[str, str]) -> dict[str, Protector]:
    """Return who protects each column of a table of the lake that is not plain.

    Raises:
        RuleViolation: `cdc.key_missing`, `cdc.key`.
    """
    return {
        column: Protector.of(Protection.parse(text), table, column, os.environ)
        for column, text in protections.items()
    }


def protected(
    text: Column, protector: Protector | None, *, row: str = "id", version: str = "version"
) -> Column:
    """Return what is stored for a text of a row with a key's text and a version."""
    if protector is None:
        return text
    return F.udf(protector.stored, StringType())(text, F.col(row), F.col(version))


def pinned(by_column: Mapping[str, Protector], known: str) -> str:
    """Return the ids of keys by which equal values look equal, as a commit has them.

    `known` are those of the table so far.

    Raises:
        RuleViolation: `cdc.key_changed`, the table has values of another key.
    """
    before: Mapping[str, str] = json.loads(known or "{}")
    now = {name: key_id for name, one in by_column.items() if (key_id := one.pinned_id)}
    for column, key_id in now.items():
        if before.get(column, key_id) != key_id:
            raise RuleViolation(
                "cdc.key_changed",
                f"{by_column[column].table}: {column} has values of key {before[column]}, and the "
                f"environment has {key_id}. Bring the old key back; for a new one give the column "
                "a key of another name, and the table is loaded again.",
            )
    return json.dumps({**before, **now}, sort_keys=True) if before or now else ""
