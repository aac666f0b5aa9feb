"""Narrows queries to data files in the proxy's own Spark, which only plans."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.iceberg import use_iceberg
from optimizer.proxy.domain.statements import Rewriting, Statement
from optimizer.pruning.domain.queries import Query
from optimizer.pruning.domain.uses import Names
from optimizer.pruning.jobs.prune import narrow, use_indexes
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation


class Pruner:
    """Narrows what a query reads of the tables that an operator named.

    `tables` are patterns (`logs.*`). Tables with masked columns or filtered rows are not to be
    among them, nor those whose file lists are a secret: what a list says is of the stored values.
    """

    name = "prune"

    def __init__(
        self,
        spark: SparkSession,
        config: LakeConfig,
        *,
        catalog: str,
        tables: Sequence[str],
        most: int = 500,
    ) -> None:
        self._spark, self._catalog, self._most = spark, catalog, most
        self._tables = tuple(tables)
        use_iceberg(spark, config)
        use_indexes(spark, config)

    def rewrite(self, statement: Statement) -> Rewriting | None:
        """Return the query narrowed, None where no table is read less of."""
        names = Names(self._catalog, session=statement.catalog, schema=statement.schema)
        try:
            query = Query(statement.sql, "trino", names)
        except RuleViolation:
            return None
        known = {use.name for use in query.uses if self._takes(use.name)}
        if not known or not re.search(r"\b(where|on)\b", statement.sql, re.IGNORECASE):
            return None
        # Java keeps the session a thread: without one, a catalog is not found in its settings.
        jvm: Any = self._spark._jvm
        jvm.org.apache.spark.sql.SparkSession.setActiveSession(self._spark._jsparkSession)
        found = narrow(self._spark, query, known, most=self._most, on_use=lambda _: None)
        return None if all(one.whole for one in found.tables) else Rewriting(found.sql)

    def _takes(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._tables)
