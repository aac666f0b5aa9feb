"""Keeps what was read of tables in a program that stays, and reads again what has changed.

Tables and cubes are opened for every query, which reads one metadata file each; files and coverage
are planned again only where the metadata file is another one.
"""

from collections.abc import Iterable

from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.iceberg import metadata_of
from optimizer.rewriting.domain.facts import TableFacts
from optimizer.rewriting.jobs.read_tables import Reader
from portal.lake.errors import PortalError


class KeptTables:
    """What is known of tables, never older than the moment in which it is asked for."""

    def __init__(self, spark: SparkSession) -> None:
        """Begin with nothing read; the session's Iceberg catalog must be set up."""
        self._spark = spark
        self._kept: dict[str, TableFacts] = {}

    def facts(self, names: Iterable[str]) -> dict[str, TableFacts]:
        """Return what is known now of tables and of those that their cubes join.

        A table that is gone or no Iceberg table is left out.
        """
        reader = Reader(self._spark)
        waiting, found = list(names), {}
        for name in waiting:
            try:
                known = self._kept.get(name)
                if known is None or not self._holds(reader, known):
                    known = reader.table(name)
            except PortalError:
                self._kept.pop(name, None)
                continue
            self._kept[name] = found[name] = known
            for cube in known.cubes:
                waiting += [one.table for one in cube.view.joins if one.table not in waiting]
        return found

    def _holds(self, reader: Reader, known: TableFacts) -> bool:
        """Whether table and cubes still have the metadata that was read; a table may be gone."""
        if metadata_of(reader.opened(known.name)) != known.metadata_location:
            return False
        return all(_place(reader, one.table) == one.metadata_location for one in known.cubes)


def _place(reader: Reader, cube: str) -> str:
    """Return a cube's metadata file, empty where it cannot be opened."""
    try:
        return metadata_of(reader.opened(cube))
    except PortalError:
        return ""
