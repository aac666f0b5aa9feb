"""Names and types of the columns by which a materialization is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pipelines.materialized.domain.definition import Definition
from pipelines.materialized.domain.kept_columns import GROUP, OWN
from pipelines.materialized.domain.messages import Types
from portal.lake.errors import RuleViolation

_WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_FLOATING = (T.FloatType, T.DoubleType)
_KEYS = (
    *_WHOLE,
    T.DecimalType,
    T.StringType,
    T.BooleanType,
    T.DateType,
    T.TimestampType,
)
_ORDERED = (*_KEYS, *_FLOATING)
_MOST_DIGITS, _MOST_SCALE = 37, 30


def key(n: int) -> str:
    """Name the n-th dimension among projected rows."""
    return f"{OWN}k{n}"


def argument(n: int) -> str:
    """Name the n-th argument among projected rows."""
    return f"{OWN}x{n}"


@dataclass(frozen=True)
class Kept:
    """Which parts of states a definition needs; types are those of its projected rows."""

    definition: Definition
    schema: T.StructType
    columns: Mapping[str, Mapping[str, str]]
    """The types of the sources' columns, by table."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The dimensions among projected rows."""
        return tuple(key(n) for n in range(len(self.definition.keys)))

    @property
    def arguments(self) -> range:
        """The numbers of the arguments."""
        return range(len(self.definition.arguments))

    @property
    def sums(self) -> tuple[int, ...]:
        """Arguments that are added up."""
        return tuple(n for n in self.arguments if self.definition.asks(n, "sum", "avg"))

    @property
    def lows(self) -> tuple[int, ...]:
        """Arguments whose least value is kept."""
        return tuple(n for n in self.arguments if self.definition.asks(n, "min"))

    @property
    def highs(self) -> tuple[int, ...]:
        """Arguments whose greatest value is kept."""
        return tuple(n for n in self.arguments if self.definition.asks(n, "max"))

    @property
    def types(self) -> Types:
        """The types of the dimensions and of the arguments."""
        names = self.schema.fieldNames()
        of = {name: self.schema[name].dataType.simpleString() for name in names}
        return Types(
            tuple(of[one] for one in self.keys), tuple(of[argument(n)] for n in self.arguments)
        )

    @property
    def has_floats(self) -> bool:
        """Whether a sum is one of floating numbers, which is not exact."""
        return any(isinstance(self.type_of(n), _FLOATING) for n in self.sums)

    def type_of(self, n: int) -> T.DataType:
        """Return the type of an argument."""
        return self.schema[argument(n)].dataType

    def sum_type(self, n: int) -> T.DataType:
        """Return in which type an argument is added up; one digit is left for adding two."""
        of = self.type_of(n)
        if isinstance(of, _FLOATING):
            return T.DoubleType()
        return T.DecimalType(_MOST_DIGITS, of.scale if isinstance(of, T.DecimalType) else 0)

    def added(self, n: int) -> Column:
        """Return an argument as it is added up."""
        of, column = self.type_of(n), F.col(argument(n))
        return column.cast("decimal(20,0)") if isinstance(of, _WHOLE) else column

    def check(self) -> None:
        """Refuse types by which no group is known or no state kept.

        Raises:
            RuleViolation: `materialized.type`.
        """
        for n, one in enumerate(self.definition.keys):
            self._check(self.schema[key(n)].dataType, _KEYS, f"the dimension {one.name}")
        for measure in self.definition.measures:
            if measure.argument < 0 or measure.kind == "count":
                continue
            of = self.type_of(measure.argument)
            numbers = (*_WHOLE, *_FLOATING, T.DecimalType)
            allowed = {"sum": numbers, "avg": numbers, "count_distinct": _KEYS}
            self._check(
                of, allowed.get(measure.kind, _ORDERED), f"{measure.kind} as {measure.name}"
            )
            if isinstance(of, T.DecimalType) and of.scale > _MOST_SCALE:
                raise _refused(of, f"{measure.kind} as {measure.name}")

    def _check(self, of: T.DataType, allowed: Sequence[type[T.DataType]], what: str) -> None:
        if not isinstance(of, tuple(allowed)):
            raise _refused(of, what)


def group_of(names: Sequence[str]) -> Column:
    """Return what identifies a group: a hash in which NULL and every text are told apart."""
    parts = [
        F.coalesce(
            F.concat(F.length(F.col(name).cast("string")), F.lit(":"), F.col(name).cast("string")),
            F.lit("-"),
        )
        for name in names
    ]
    return F.sha2(F.concat_ws(",", *parts), 256)


def with_group(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Add what identifies each row's group."""
    return rows.withColumn(GROUP, group_of(names))


def _refused(of: T.DataType, what: str) -> RuleViolation:
    return RuleViolation(
        "materialized.type",
        f"{what[0].upper()}{what[1:]} is {of.simpleString()}, which cannot be kept by changes.",
    )
