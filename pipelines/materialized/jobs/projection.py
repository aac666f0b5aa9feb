"""Turns rows of the source tables into the dimensions and arguments of a definition."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.hudi_settings import VERSION
from pipelines.commits.jobs.changes import WEIGHT
from pipelines.materialized.domain.definition import Definition
from pipelines.materialized.domain.kept_columns import OWN
from pipelines.materialized.domain.tables import Table
from pipelines.materialized.jobs.columns import argument, key
from portal.lake.errors import RuleViolation
from portal.lake.names import quoted

_LONGEST = 300


@dataclass(frozen=True)
class Projection:
    """The joins, filter and expressions of one definition over some rows."""

    spark: SparkSession
    definition: Definition

    def needed(self, columns: list[str]) -> list[str]:
        """Return those of a table's columns that the definition may mean."""
        names = set(self.definition.columns)
        return [one for one in columns if one.lower() in names] or columns[:1]

    def check_names(self, table: Table, columns: list[str]) -> None:
        """Refuse what a column's name makes ambiguous.

        Raises:
            RuleViolation: `materialized.definition`.
        """
        lower = {one.lower() for one in columns}
        for name in self.definition.by_alias:
            if name in lower:
                raise RuleViolation(
                    "materialized.definition",
                    f"GROUP BY {name}: {table.name} has a column of that name, which Spark would "
                    "group by. Write the expression into GROUP BY.",
                )
        # The version of a captured table is no column that is made here.
        own = {one for one in lower if one.startswith(OWN)} - {VERSION}
        taken = sorted(own | ({WEIGHT} & lower))
        if taken:
            raise RuleViolation(
                "materialized.definition",
                f"{table.name} has a column {taken[0]}, a name that Lakewarden uses itself.",
            )

    def rows(self, fact: DataFrame, dimensions: Mapping[str, DataFrame]) -> DataFrame:
        """Return dimensions, arguments and weight of rows; without a weight of +1 each.

        Raises:
            RuleViolation: `materialized.definition`, Spark does not understand it.
        """
        weighed = fact if WEIGHT in fact.columns else fact.withColumn(WEIGHT, F.lit(1))
        weighed.createOrReplaceTempView(self._view(self.definition.fact))
        for join in self.definition.joins:
            dimensions[join.table.name].createOrReplaceTempView(self._view(join.table))
        try:
            return self.spark.sql(self._sql())
        except AnalysisException as error:
            raise RuleViolation(
                "materialized.definition",
                f"Spark does not understand it: {str(error).partition(chr(10))[0][:_LONGEST]}",
            ) from error

    def _sql(self) -> str:
        of = self.definition
        items = [
            *(f"{one.sql} AS {key(n)}" for n, one in enumerate(of.keys)),
            *(f"{one} AS {argument(n)}" for n, one in enumerate(of.arguments)),
            f"{quoted(of.fact.alias)}.{WEIGHT} AS {WEIGHT}",
        ]
        joins = " ".join(f"JOIN {self._source(one.table)} ON {one.on}" for one in of.joins)
        where = f"WHERE {of.where}" if of.where else ""
        # Only what sqlglot wrote from a checked definition stands in it.
        return " ".join(("SELECT", ", ".join(items), "FROM", self._source(of.fact), joins, where))

    def _view(self, table: Table) -> str:
        # By number: the names of `a.b_c` and `a_b.c` would run together.
        return f"lw_rows_of_{self.definition.tables.index(table)}"

    def _source(self, table: Table) -> str:
        return f"{quoted(self._view(table))} AS {quoted(table.alias)}"
