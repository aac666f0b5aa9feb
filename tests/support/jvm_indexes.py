"""The JVM's reader of file indexes, called through the warm Spark application."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

from pyspark.sql import SparkSession

from optimizer.indexes.domain.values import ColumnType, ValueClass
from tests.support.index_values import Plain


@dataclass(frozen=True)
class JvmReader:
    """The classes of `lakewarden.indexes.format`, with Python's values."""

    spark: SparkSession

    @property
    def _jvm(self) -> Any:
        return self.spark._jvm

    @property
    def _format(self) -> Any:
        return self._jvm.lakewarden.indexes.format

    def value(self, kind: ColumnType, value: Plain) -> Any:
        """Return a value of the column's class."""
        java, jvm = self._format.Value, self._jvm
        match kind.value_class:
            case ValueClass.BOOLEAN:
                return java.ofBoolean(value)
            case ValueClass.FLOAT:
                # By its text: Py4J's numbers know no infinity.
                text = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
                return java.ofDouble(jvm.java.lang.Double.valueOf(text.get(str(value), str(value))))
            case ValueClass.DECIMAL:
                assert isinstance(value, Decimal)
                step = Decimal(1).scaleb(-kind.scale)
                return java.ofDecimal(value.quantize(step, context=Context(prec=38)))
            case ValueClass.STRING:
                return java.ofString(value)
            case ValueClass.UUID:
                return java.ofUuid(jvm.java.util.UUID.fromString(str(value)))
            case ValueClass.BINARY:
                assert isinstance(value, bytes)
                return java.ofBytes(bytearray(value))
            case _:
                return java.ofLong(jvm.java.lang.Long.valueOf(str(value)))

    def read(self, blob: bytes) -> Any:
        return self._format.Envelope.read(bytearray(blob))

    def read_as(  # what a header says
        self, blob: bytes, *, table: UUID, field: int, location: str, rows: int, kind: ColumnType
    ) -> Any:
        """Read a blob as a plan would, which checks what it is of."""
        return self._format.Envelope.read(
            bytearray(blob),
            self._jvm.java.util.UUID.fromString(str(table)),
            field,
            location,
            rows,
            self.value_class(kind),
            kind.scale,
        )

    def value_class(self, kind: ColumnType) -> Any:
        return self._format.ValueClass.valueOf(kind.value_class.name)

    def leaf(self, kind: ColumnType, field: int, op: str, values: Sequence[Plain]) -> Any:
        """Return a condition; `op` as SQL says it, or contains, begins, lower ends."""
        java, of = self._format.Leaf, self.value_class(kind)
        compared = {"<": "LESS", "<=": "LESS_OR_EQUAL", ">": "GREATER", ">=": "GREATER_OR_EQUAL"}
        if op == "=" and kind.value_class == ValueClass.STRING:
            return java.equalTo(field, values[0])
        if op in ("=", "in"):
            # `List` takes what a Python list becomes, too.
            found = self._jvm.java.util.ArrayList()
            for value in values:
                found.add(self.value(kind, value))
            return getattr(java, "in")(field, of, found)
        if op in compared:
            side = self._leaf_kind(compared[op])
            return java.compared(side, field, of, self.value(kind, values[0]))
        if op in ("is null", "is_null"):
            return java.isNull(field, of)
        if op == "is_nan":
            # Of a null it is false, not null, as a comparison that takes null for a value.
            return self.leaf(kind, field, "=", [float("nan")]).nullSafe()
        lowered, plain = op.startswith("lower "), op.removeprefix("lower ")
        return java.like(field, self._pattern(plain, str(values[0])), lowered)

    def _leaf_kind(self, name: str) -> Any:
        found = self._jvm.java.lang.Class.forName("lakewarden.indexes.format.Leaf$Kind")
        return next(one for one in found.getEnumConstants() if one.toString() == name)

    def _pattern(self, op: str, text: str) -> Any:
        java = self._format.LikePattern
        match op:
            case "like":
                return java.of(text, "\\")
            case "contains":
                return java.containing(text)
            case "begins" | "starts_with":
                return java.beginningWith(text)
            case "has_token":
                # The token stands between separators or edges, as the whole of a text does.
                return java.equalTo(text)
            case "ends" | "ends_with":
                return java.endingWith(text)
            case _:
                return java.equalTo(text)

    def ask(self, index: Any, leaf: Any, *, negated: bool = False) -> tuple[bool, list[int] | None]:
        """Return whether the file is kept, and the rows that may match where they are known."""
        answer = index.ask(leaf)
        if negated:
            answer = getattr(answer, "not")()
        rows = answer.rows()
        return not answer.excludesFile(), None if rows is None else list(rows.toArray())
