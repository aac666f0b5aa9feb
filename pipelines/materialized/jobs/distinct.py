"""Counts the rows of each distinct value of each group, in a table of its own.

A value counts as long as it has a row. The values themselves are not kept, only hashes of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.commits.domain.positions import Positions
from pipelines.commits.jobs.target import REPLACE, UPSERT, Target
from pipelines.materialized.domain.kept_columns import GROUP, ROWS, VALUE, state
from pipelines.materialized.jobs.columns import Kept, argument, group_of
from pipelines.materialized.jobs.states import values

_OF = "_lw_of"


@dataclass(frozen=True)
class Distinct:
    """The table of counts beside one materialization."""

    kept: Kept
    target: Target

    def replace(self, rows: DataFrame, positions: Positions, note: str) -> None:
        """Count all rows again, in the place of what a refresh left there.

        Raises:
            RuleViolation: `commits.foreign_table`, something else is there.
        """
        self.target.newest()
        self.target.write(self._counts(rows), positions, operation=REPLACE, note=note)

    def add(self, changes: DataFrame, positions: Positions, note: str) -> None:
        """Add netted changes."""
        new = self._counts(changes)
        old = self.target.read().select(VALUE, F.col(ROWS).alias("_lw_was"))
        total = F.col(ROWS) + F.coalesce(F.col("_lw_was"), F.lit(0))
        found = new.join(old, VALUE, "left").withColumn("_lw_total", total)
        found = found.where("_lw_total > 0 OR _lw_was IS NOT NULL")
        rows = found.select(VALUE, GROUP, _OF, F.col("_lw_total").alias(ROWS))
        self.target.write(rows, positions, operation=UPSERT, note=note)

    def numbers(self, groups: DataFrame) -> DataFrame:
        """Return how many distinct values groups have, a column for each argument."""
        found = self.target.read().join(groups.select(GROUP), GROUP, "left_semi")
        made = [
            F.count_if((F.col(_OF) == n) & (F.col(ROWS) > 0)).alias(state("distinct", n))
            for n in self.kept.definition.distinct
        ]
        return found.groupBy(GROUP).agg(*made)

    def _counts(self, rows: DataFrame) -> DataFrame:
        return reduce(DataFrame.unionByName, self._each(rows))

    def _each(self, rows: DataFrame) -> Iterable[DataFrame]:
        for n in self.kept.definition.distinct:
            found = values(rows, n).withColumn(_OF, F.lit(n))
            value = F.sha2(F.concat_ws(",", GROUP, _OF, group_of([argument(n)])), 256)
            yield found.select(value.alias(VALUE), GROUP, _OF, ROWS)
