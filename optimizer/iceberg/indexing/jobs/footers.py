"""Reads from data files what the table does not say: their true size, and their row groups.

Some files at a time on the driver's threads; only footers are read.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.jobs.coverage import LiveFile
from portal.lake.errors import PortalError

_AT_ONCE = 8
_PARQUET = "org.apache.parquet.hadoop."

RowGroups = tuple[tuple[int, int], ...]


class Footers:
    """Reads sizes and row groups of a table's data files."""

    def __init__(self, table: IcebergTable) -> None:
        self._table = table
        self._conf: Any = table.spark.sparkContext._jsc.hadoopConfiguration()
        block = _PARQUET + "metadata.BlockMetaData"
        stripe = "org.apache.orc.StripeInformation"
        step = table.columns.step
        self._steps = {
            "PARQUET": (step(block, "getStartingPos"), step(block, "getRowCount")),
            "ORC": (step(stripe, "getOffset"), step(stripe, "getNumberOfRows")),
        }

    def read(self, files: Iterable[LiveFile]) -> list[RowGroups | str]:
        """Return for each file its row groups, or why it cannot be indexed."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(self._one, files))

    def _one(self, file: LiveFile) -> RowGroups | str:
        said = file.data_file
        try:
            with clear_errors(self._table.name):
                path = self._table.jvm.org.apache.hadoop.fs.Path(said.location)
                n_bytes = int(path.getFileSystem(self._conf).getFileStatus(path).getLen())
                if n_bytes != said.size:
                    return (
                        f"it has {n_bytes} bytes and the table says {said.size}: another program "
                        "has written it again."
                    )
                groups = self._groups(file.format, path)
        except PortalError as error:
            return error.message
        # What does not add up to the file's rows says nothing about where rows lie.
        return groups if sum(rows for _, rows in groups) == said.records else ()

    def _groups(self, form: str, path: Any) -> RowGroups:
        jvm = self._table.jvm
        if form == "PARQUET":
            hadoop = jvm.org.apache.parquet.hadoop
            reader = hadoop.ParquetFileReader.open(
                hadoop.util.HadoopInputFile.fromPath(path, self._conf)
            )
            try:
                return self._listed(form, reader.getFooter().getBlocks())
            finally:
                reader.close()
        if form == "ORC":
            orc = jvm.org.apache.orc.OrcFile
            reader = orc.createReader(path, orc.readerOptions(self._conf))
            try:
                return self._listed(form, reader.getStripes())
            finally:
                reader.close()
        return ()

    def _listed(self, form: str, groups: Any) -> RowGroups:
        offset, rows = self._steps[form]
        columns = self._table.columns
        if groups.isEmpty():
            return ()
        return tuple(
            zip(columns.numbers(groups, offset), columns.numbers(groups, rows), strict=True)
        )
