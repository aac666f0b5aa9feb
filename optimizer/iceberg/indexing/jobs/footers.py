"""Reads from data files what the table does not say: their true size, and their row groups.

Some files at a time on the driver's threads; only footers are read. Parquet's in one call of the
JVM: a call for each step of each file took a third of a build's time.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.jobs.coverage import LiveFile
from portal.lake.errors import PortalError

_AT_ONCE = 8
_UNSURE, _SEPARATOR = "?", "\x1e"
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

    def read(self, files: Sequence[LiveFile]) -> list[RowGroups | str]:
        """Return for each file its row groups, or why it cannot be indexed."""
        known = self._parquet([one for one in files if one.format == "PARQUET"])
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            others = [one for one in files if one.data_file.location not in known]
            for file, found in zip(others, pool.map(self._one, others), strict=True):
                known[file.data_file.location] = found
        return [known[one.data_file.location] for one in files]

    def _parquet(self, files: Sequence[LiveFile]) -> dict[str, RowGroups | str]:
        """Return the row groups of Parquet files by location: those that one call can read."""
        if not files:
            return {}
        asked = _SEPARATOR.join(f"{one.data_file.size} {one.data_file.location}" for one in files)
        lines = self._table.jvm.lakewarden.spark.indexes.Footers.read(self._conf, asked)
        found: dict[str, RowGroups | str] = {}
        for file, line in zip(files, str(lines).split("\n"), strict=True):
            if line != _UNSURE:
                numbers = [int(one) for one in line.split()]
                groups = tuple(zip(numbers[::2], numbers[1::2], strict=True))
                found[file.data_file.location] = _adding_up(groups, file)
        return found

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
        return _adding_up(groups, file)

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


def _adding_up(groups: RowGroups, file: LiveFile) -> RowGroups:
    """Return the groups; none where they are not all of the file's rows."""
    return groups if sum(rows for _, rows in groups) == file.data_file.records else ()
