"""Which keys were deleted at which version, so that a late older row never brings one back.

Hudi forgets a deleted key's version once the row is gone. Tombstones are plain files of Parquet:
only the greatest version of a key counts, so that they need no upsert, no index and no lock, and
cost a tenth of a commit of Hudi's.
"""

from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.cdc.applying.jobs.kept import KeptFiles

MOST_FILES = 32
_DAY_MS = 86_400_000


@dataclass
class Tombstones:
    """Those of one table; `keep_days` is for how long."""

    kept: KeptFiles
    keep_days: int
    _newest: int | None = field(default=None, init=False)

    @property
    def newest(self) -> int:
        """The greatest version that any has: rows above it cannot be late."""
        if self._newest is None:
            files = self.kept.files()
            self._newest = int(_greatest(self.kept.read(files)) or 0) if files else 0
        return self._newest

    def add(self, deletes: DataFrame, *, newest: int) -> None:
        """Add rows of `id`, `version` and `at`; the same again does nothing."""
        known = self.newest
        self.kept.add(deletes.select("id", "version", "at"))
        self._newest = max(known, newest)

    def alive(self, upserts: DataFrame) -> DataFrame:
        """Leave out rows that were deleted at their version or after it."""
        dead = self.kept.read(self.kept.files()).groupBy("id").agg(F.max("version").alias("dead"))
        return upserts.join(dead, "id", "left").where("dead IS NULL OR version > dead").drop("dead")

    def compact(self, *, now_ms: int) -> None:
        """Make one file of many, without what is older than is kept; one a key stays."""
        files = self.kept.files()
        if len(files) <= MOST_FILES:
            return
        oldest = now_ms - self.keep_days * _DAY_MS
        rows = (
            self.kept.read(files)
            .groupBy("id")
            .agg(F.max("version").alias("version"), F.max("at").alias("at"))
        )
        self.kept.add(rows.where(F.col("at") >= oldest))
        self.kept.remove(files)


def _greatest(rows: DataFrame) -> int | None:
    found: int | None = rows.agg(F.max("version")).collect()[0][0]
    return found
