"""Answers aggregate queries over Hudi tables from materializations, in the proxy's own Spark.

What a materialization is of, and which commits of its sources it has, stand in its table's newest
commit, so the portal is not asked.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pyspark.sql import SparkSession

from optimizer.hudi.tables.jobs.table import use_hudi
from optimizer.proxy.domain.statements import Rewriting, Statement
from optimizer.rewriting.domain.answers import rewrite, tables_read
from optimizer.rewriting.domain.hudi_readers import HudiReader
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.jobs.kept_aggregates import KeptAggregates, PlaceOf
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import RuleViolation
from portal.lake.formats import committed_format
from portal.lake.names import TableName


class MaterializationAnswers:
    """Answers what fits from the materializations that an operator named.

    Whoever reads one of their sources must be allowed to read them too; tables with masked columns
    or filtered rows are not to be among the sources.
    """

    name = "materializations"

    def __init__(
        self,
        spark: SparkSession,
        config: LakeConfig,
        *,
        reader: HudiReader,
        tables: Sequence[str],
        max_lag: timedelta,
        place_of: PlaceOf | None = None,
    ) -> None:
        """Nothing is read yet; `reader` is Trino's catalog of the lake's Hudi tables.

        Raises:
            ExternalFailure: `hudi.jar`.
        """
        use_hudi(spark, lake=str(config.lake))
        self._kept = KeptAggregates(spark, config, place_of or _places(config), reader)
        self._catalogs = frozenset({reader.catalog.lower()})
        self._tables, self._max_lag = tuple(one.lower() for one in tables), max_lag

    def rewrite(self, statement: Statement) -> Rewriting | None:
        """Return the query answered from a materialization, or as it is with the reason.

        None for one that reads nothing of the lake's Hudi tables.
        """
        session = Session("trino", statement.schema, statement.catalog, self._catalogs)
        try:
            names = tables_read(statement.sql, session)
        except RuleViolation:
            return None
        now = datetime.now(UTC)
        known = self._kept.facts(sorted(names), self._tables, max_lag=self._max_lag, now=now)
        found = rewrite(statement.sql, session, known.tables, readable=names)
        if found.is_rewritten:
            return Rewriting(found.sql)
        return Rewriting(statement.sql, reason="; ".join((*known.problems, found.refusal)))


def _places(config: LakeConfig) -> PlaceOf:
    def place_of(name: str) -> str | None:
        with Metastore.connect(config) as metastore:
            struct = metastore.table_or_none(TableName.parse(config.lake, name))
        if struct is None or committed_format(struct) != "hudi":
            return None
        return str(struct.sd.location)

    return place_of
