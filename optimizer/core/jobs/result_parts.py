"""Writes the driver's rows to the spool, so that the driver never holds many of them."""

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from portal.spark.spool import Spool

_ROWS = 5_000


class ResultPart:
    """One kind of rows below the spool's results, in Parquet files of at most some thousand."""

    def __init__(self, spool: Spool, name: str, schema: pa.Schema) -> None:
        self._spool = spool
        self._root = spool.results.child(name)
        self._schema = schema
        self._rows: list[Mapping[str, Any]] = []
        self._n_files = 0
        spool.fs.make_directories(self._root, mode=0o700)

    def extend(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take rows in; what the schema has and a row has not is null."""
        for row in rows:
            self._rows.append(row)
            if len(self._rows) >= _ROWS:
                self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if not self._rows:
            return
        buffer = BytesIO()
        pq.write_table(pa.Table.from_pylist(self._rows, schema=self._schema), buffer)
        self._n_files += 1
        path = self._root.child(f"part-{self._n_files:05d}.parquet")
        self._spool.fs.write_new(path, buffer.getvalue())
        self._rows = []
