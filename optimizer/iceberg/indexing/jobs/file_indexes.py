"""Builds all indexes of one data file while its rows pass by, in bounded memory."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import pyarrow as pa

from optimizer.iceberg.indexing.domain.wanted import AUTO
from optimizer.iceberg.indexing.jobs.arrow_values import values_of
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.indexes.domain.bloom import Bloom
from optimizer.indexes.domain.bloomrf import BloomRF
from optimizer.indexes.domain.builders import Built, IndexBuilder, Refused, Wanted, blob_of, unfit
from optimizer.indexes.domain.choice.kinds import OF_PIECES
from optimizer.indexes.domain.envelope import Expected, Form, Kind
from optimizer.indexes.domain.hashing import hash_bytes
from optimizer.indexes.domain.values import ColumnType, ValueClass, Values

_BITS = {Kind.BLOOMRF.value: 16.0}
_MOST_BYTES_A_ROW, _FEW_VALUES = 2.0, 100
_PLAIN = frozenset({ValueClass.STRING, ValueClass.BINARY})
_FILTERS = frozenset({Kind.BLOOM.value, Kind.BLOOMRF.value})
_VALUES = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class FinishedIndex:
    """One index of the file, or why there is none."""

    field_id: int
    wanted: str
    kind: str
    refused: str
    blob: bytes
    passed: int | None = None


class _Builder(Protocol):
    """What takes in a column's values and becomes an index, or does not."""

    def add(self, values: Values) -> None: ...

    def finish(self) -> Built | Refused: ...


class FileIndexes:
    """The indexes of one data file, being built."""

    def __init__(self, columns: Sequence[IndexedColumn], *, location: str, table_uuid: str) -> None:
        self.n_rows = 0
        self._columns = columns
        self._hash = hash_bytes(location.encode())
        self._uuid = UUID(table_uuid)
        self._builders = [_builder(column) for column in columns]

    def add(self, slices: Sequence["pa.Array[Any]"]) -> None:
        """Take in the next rows: of each column its slice."""
        values: dict[int, Values] = {}
        for column, builder, rows in zip(self._columns, self._builders, slices, strict=True):
            if column.field_id not in values:
                values[column.field_id] = values_of(rows, column.type, first_row=self.n_rows)
            builder.add(values[column.field_id])
        self.n_rows += len(slices[0])

    def finish(self) -> Iterator[FinishedIndex]:
        """Yield what came of each column."""
        for column, builder in zip(self._columns, self._builders, strict=True):
            built = builder.finish()
            if isinstance(built, Refused):
                refused = built.detail or built.reason
                yield FinishedIndex(column.field_id, column.kind, "", refused, b"")
                continue
            of = Expected(self._uuid, column.field_id, self._hash, self.n_rows, column.type)
            kind = built.form.kind.value
            passed = None if built.false_positives is None else round(built.false_positives * 1e6)
            blob = blob_of(built, of)
            yield FinishedIndex(column.field_id, column.kind, kind, "", blob, passed)


class ChosenFilter:
    """A filter that was chosen for the whole table, where this file holds more than one value."""

    def __init__(self, kind: ColumnType, chosen: Kind) -> None:
        self._filter = _plain_builder(kind, chosen)

    def add(self, values: Values) -> None:
        """Take in some rows."""
        self._filter.add(values)

    def finish(self) -> Built | Refused:
        """Return the filter, or why it is not worth it."""
        built = self._filter.finish()
        if isinstance(built, Refused):
            return built
        is_ranged = built.form == Form.BLOOMRF
        n = (BloomRF.read(built.body) if is_ranged else Bloom.read(built.body)).n
        return built if n > 1 else one_value(n)


class AutoIndex:
    """Decides at the end of a data file which index of a column is worth its bytes.

    Few values: a bitmap, which answers the most. Many: a filter, by ranges where the type has an
    order that queries use. One value, or none: nothing, because least and greatest say the same.
    """

    def __init__(self, kind: ColumnType) -> None:
        self._n_rows = 0
        self._bitmap = IndexBuilder(kind, Wanted(Kind.BITMAP))
        chosen = auto_filter(kind)
        self._filter = None if chosen is None else _plain_builder(kind, chosen)

    def add(self, values: Values) -> None:
        """Take in some rows."""
        self._n_rows += values.count
        self._bitmap.add(values)
        if self._filter is not None:
            self._filter.add(values)

    def finish(self) -> Built | Refused:
        """Return the index that was chosen, or why none is worth it."""
        bitmap = self._bitmap.finish()
        if isinstance(bitmap, Built):
            n_values = _VALUES.unpack_from(bitmap.body)[0]
            if n_values < 2:
                return one_value(n_values)
            is_small = len(bitmap.body) <= _MOST_BYTES_A_ROW * self._n_rows
            if self._filter is None or n_values <= _FEW_VALUES or is_small:
                return bitmap
        return bitmap if self._filter is None else self._filter.finish()


def auto_filter(kind: ColumnType) -> Kind | None:
    """Return the filter of many values that fits a type: by ranges where queries use its order."""
    is_ranged = not unfit(kind, Kind.BLOOMRF) and kind.value_class not in _PLAIN
    chosen = Kind.BLOOMRF if is_ranged else Kind.BLOOM
    return None if unfit(kind, chosen) else chosen


def bits_a_key(kind: str) -> float:
    """Return how many bits a filter of this kind has for each key, if nobody says."""
    return _BITS.get(kind, 10.0)


def one_value(n: int) -> Refused:
    """Return why there is no index of a file that holds one value, or none."""
    said = "it holds one value" if n else "it holds only nulls"
    return Refused("one_value", f"{said}: least and greatest say as much.")


def _plain_builder(kind: ColumnType, wanted: Kind) -> IndexBuilder:
    return IndexBuilder(kind, Wanted(wanted, bits_a_key=bits_a_key(wanted)))


def _builder(column: IndexedColumn) -> _Builder:
    if column.kind == AUTO and column.chosen in _FILTERS:
        return ChosenFilter(column.type, Kind(column.chosen))
    if column.kind == AUTO and column.chosen in OF_PIECES:
        return _plain_builder(column.type, Kind(column.chosen))
    if column.kind == AUTO:
        return AutoIndex(column.type)
    kind = Kind(column.kind)
    if column.parameter is None:
        return _plain_builder(column.type, kind)
    if kind in (Kind.NGRAM_BLOOM, Kind.NGRAM_BITMAP):
        return IndexBuilder(column.type, Wanted(kind, n=column.parameter))
    return IndexBuilder(column.type, Wanted(kind, bits_a_key=float(column.parameter)))
