"""Opens a table of the lake for measuring: its rows by windows, and those of newer commits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotVisible
from portal.lake.names import TableName
from quality.checks.domain.messages import format_of
from quality.checks.domain.reasons import Reason
from quality.checks.jobs.errors import Unmeasured
from quality.checks.jobs.hive_rows import HiveRows
from quality.checks.jobs.hudi_rows import HudiRows
from quality.checks.jobs.iceberg_rows import IcebergRows

_META = "_hoodie_"


class Rows(Protocol):
    """The rows of one table as it is at one commit."""

    @property
    def commit(self) -> str:
        """The commit; empty where the format has none."""

    def read(self, key: str, values: Sequence[str]) -> DataFrame:
        """Return all rows; where that saves files only those of some values of a key."""

    def newer(self, since: str) -> DataFrame:
        """Return the rows that commits after `since` added; raises NotIncremental."""

    def is_settled(self) -> bool:
        """Whether what was read is surely the table at `commit`."""


@dataclass(frozen=True)
class Table:
    """A table with its windows: `key` is the column whose values they are, '' where it has none."""

    name: str
    rows: Rows
    key: str = ""

    def windows(self, values: Sequence[str]) -> DataFrame:
        """Return the rows of some windows.

        Raises:
            Unmeasured: The table has no such column.
        """
        frame = _plain(self.rows.read(self.key, values))
        return self._kept(frame, values)

    def newer(self, since: str, values: Sequence[str]) -> DataFrame:
        """Return the rows of some windows that commits after `since` added; none named: of all.

        Raises:
            NotIncremental: There were other changes.
        """
        frame = _plain(self.rows.newer(since))
        return self._kept(frame, values) if values else frame

    def window_of(self) -> Column:
        """Return the window of a row as a text."""
        return F.col(self.key).cast("string") if self.key else F.lit("")

    def _kept(self, frame: DataFrame, values: Sequence[str]) -> DataFrame:
        if not self.key:
            return frame
        if self.key not in frame.columns:
            raise Unmeasured(Reason.COLUMN_GONE, f"{self.name} has no column {self.key}.")
        of = frame.schema[self.key].dataType
        return frame.where(F.col(self.key).isin([F.lit(one).cast(of) for one in values]))


def _plain(frame: DataFrame) -> DataFrame:
    return frame.select([f"`{one}`" for one in frame.columns if not one.startswith(_META)])


class Tables:
    """Opens tables of one lake."""

    def __init__(self, spark: SparkSession, config: LakeConfig) -> None:
        self._spark = spark
        self._config = config

    def open(self, db: str, table: str, key: str = "") -> Table:
        """Open a table as it stands now.

        Raises:
            Unmeasured: It is not there, or is of a format whose rows are not read.
            PortalError: The metastore does not answer.
        """
        name = TableName(self._config.lake, db, table)
        with Metastore.connect(self._config) as metastore:
            try:
                struct = metastore.table(name)
            except NotVisible as error:
                raise Unmeasured(Reason.TABLE_GONE, f"{name} is not in the metastore.") from error
        return Table(str(name), self._rows(name, struct), key)

    def at(self, name: str, location: str, key: str = "") -> Table:
        """Open a Hudi table at its base path; it need not be in the metastore."""
        return Table(name, HudiRows.open(self._spark, location), key)

    def _rows(self, name: TableName, struct: Any) -> Rows:
        match format_of(struct):
            case "iceberg":
                return IcebergRows.open(self._spark, self._config, name)
            case "hudi":
                return HudiRows.open(self._spark, str(struct.sd.location))
            case _:
                return HiveRows(self._spark, self._config, name, struct)
