"""Rows that changed between two positions of a table, each with a weight."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipelines.commits.domain.positions import Kind, Meaning, Position

WEIGHT = "_weight"
"""-1: the row as it was; +1: the row as it is. Rows that did not change may be there as both."""


@dataclass(frozen=True)
class Changes:
    """What changed; `rows` is None where nothing did, and where only a full read is right."""

    meaning: Meaning
    rows: DataFrame | None = None
    n_bytes: int = 0
    """About what reading them costs."""

    @property
    def kind(self) -> Kind:
        """Nothing, changes, or a full read."""
        return self.meaning.kind


class Source(Protocol):
    """A table whose commits can be read."""

    @property
    def name(self) -> str:
        """The table as people write it: db.table."""

    @property
    def has_plain_partitions(self) -> bool:
        """Whether a condition on a column that it is partitioned by may be asked of partitions.

        Not where their names are made of more than the column's value.
        """

    def position(self) -> Position:
        """Return the newest commit that can be read up to."""

    def read_at(self, position: Position) -> DataFrame:
        """Return the rows of the table as it was at a position."""

    def changes(
        self, after: Position, upto: Position, columns: Sequence[str] | None = None
    ) -> AbstractContextManager[Changes]:
        """Give the rows of some columns that changed after one position up to another.

        They can be read as long as the context is open.
        """

    def n_bytes(self, position: Position) -> int:
        """Return about how much reading all of it costs."""


def signed(before: DataFrame, after: DataFrame) -> DataFrame:
    """Return rows as they were and as they are; a column that was not there yet is NULL."""
    return before.withColumn(WEIGHT, F.lit(-1)).unionByName(
        after.withColumn(WEIGHT, F.lit(1)), allowMissingColumns=True
    )


def retyped(before: DataFrame, after: DataFrame) -> str:
    """Return why rows of two schemas are no changes of one table; empty: they are."""
    types = {one.name: one.dataType for one in before.schema}
    for one in after.schema:
        was = types.pop(one.name, one.dataType)
        if was != one.dataType:
            return (
                f"Column {one.name} was {was.simpleString()} and is {one.dataType.simpleString()}."
            )
    return f"Column {next(iter(types))} was dropped." if types else ""
