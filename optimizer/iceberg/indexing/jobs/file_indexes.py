"""Builds all indexes of one data file while its rows pass by, in bounded memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pyarrow as pa

from optimizer.iceberg.indexing.jobs.arrow_values import values_of
from optimizer.iceberg.indexing.jobs.columns import IndexedColumn
from optimizer.indexes.domain.bloom import BloomBuilder
from optimizer.indexes.domain.envelope import Form, Header, wrap
from optimizer.indexes.domain.hashing import hash_bytes
from optimizer.indexes.domain.values import value_hashes


@dataclass(frozen=True, slots=True)
class FinishedIndex:
    """One index of the file, or why there is none."""

    field_id: int
    wanted: str
    kind: str
    refused: str
    blob: bytes


class FileIndexes:
    """The indexes of one data file, being built."""

    def __init__(self, columns: Sequence[IndexedColumn], *, location: str, table_uuid: str) -> None:
        self.n_rows = 0
        self._columns = columns
        self._location = location
        self._uuid = UUID(table_uuid)
        self._builders = [BloomBuilder() for _ in columns]

    def add(self, slices: Sequence["pa.Array[Any]"]) -> None:
        """Take in the next rows: of each column its slice."""
        for column, builder, rows in zip(self._columns, self._builders, slices, strict=True):
            values = values_of(rows, column.type, first_row=self.n_rows)
            builder.add(value_hashes(values.without_nulls()))
        self.n_rows += len(slices[0])

    def finish(self) -> Iterator[FinishedIndex]:
        """Yield what came of each column."""
        for column, builder in zip(self._columns, self._builders, strict=True):
            header = Header(
                Form.BLOOM,
                column.type.value_class,
                column.field_id,
                self.n_rows,
                hash_bytes(self._location.encode()),
                self._uuid,
                scale=column.type.scale,
            )
            body = builder.finish()
            yield FinishedIndex(column.field_id, column.kind, "bloom", "", wrap(header, body))
