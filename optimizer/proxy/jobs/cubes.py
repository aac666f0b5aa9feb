"""Answers aggregate queries from cubes in the proxy's own Spark, which only opens tables."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.iceberg import use_iceberg
from optimizer.proxy.domain.statements import Rewriting, Statement
from optimizer.proxy.domain.uses import uses_of
from optimizer.rewriting.domain.answers import rewrite, tables_read
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.jobs.kept_tables import KeptTables
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import RuleViolation


class CubeAnswers:
    """Answers what fits from cubes of the tables that an operator named.

    `tables` are patterns (`ssb.*`). Whoever reads such a table must be allowed to read its cubes
    too; tables with masked columns or filtered rows are not to be among them.
    """

    name = "cubes"

    def __init__(
        self,
        spark: SparkSession,
        config: LakeConfig,
        *,
        catalog: str,
        tables: Sequence[str],
        most: int = 500,
    ) -> None:
        """Set the session's catalog up; nothing is read yet."""
        use_iceberg(spark, config)
        self._kept = KeptTables(spark)
        self._catalogs = frozenset({catalog.lower()})
        self._tables, self._most = tuple(tables), most

    def rewrite(self, statement: Statement) -> Rewriting | None:
        """Return the query answered from cubes, None where no cube answers any of it."""
        session = Session("trino", statement.schema, statement.catalog, self._catalogs)
        try:
            names = [name for name in tables_read(statement.sql, session) if self._takes(name)]
        except RuleViolation:
            return None
        if not names:
            return None
        known = self._kept.facts(names)
        found = rewrite(statement.sql, session, known, readable=names, most_files=self._most)
        return Rewriting(found.sql, uses_of(found, known)) if found.is_rewritten else None

    def _takes(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._tables)
