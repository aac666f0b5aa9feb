"""What a pipeline remembers between two programs: how far it read, and which batches tables have.

Losing it costs time and nothing else. The commits of the tables say which batches they have, and a
batch that is applied again changes nothing.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.applying.jobs.table_run import TableRun
from portal.connectors.file_status import FileSystem
from portal.lake.errors import NotVisible
from portal.lake.paths import LakePath

_PRIVATE = 0o700


@dataclass
class PipelineProgress:
    """The file `progress.json` of a pipeline's folder."""

    fs: FileSystem
    folder: LakePath
    read: int = 0
    """Every batch up to this one was given to the tables, or kept for those that may come."""
    _tables: Mapping[str, Any] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)
    """Locations of tables, also of those that have no order for a moment."""

    def load(self) -> None:
        """Read it; one that is missing or no JSON has the changelog read from its first batch."""
        self.fs.make_directories(self.folder, mode=_PRIVATE)
        try:
            said = json.loads(self.fs.read(self._path))
        except (NotVisible, ValueError):
            said = {}
        self.read = int(said.get("read", 0))
        self._tables = said.get("tables", {})
        self._places = said.get("places", {})

    def restore(self, table: TableRun) -> bool:
        """Tell a table which batches it has: those that its commits say, where it lost some.

        Returns False where it lies elsewhere now.
        """
        said = self._tables.get(str(table.order.id), {})
        marks = table.writer.marks
        place = table.order.location
        if self._places.get(str(table.order.id), place) != place:
            table.known = marks.batches
            return False
        table.replayed, table.retried = tuple(said.get("replayed", ())), said.get("retried", "")
        table.known = marks.batches
        if said and marks.number >= int(said["commits"]):
            table.known |= Numbers.parse(said["known"])
        elif not said and self.read:
            # What came of a new table before its order waits beside it.
            table.known |= Numbers(((1, self.read),))
        return True

    def save(self, tables: Iterable[TableRun]) -> None:
        """Write it."""
        said = {}
        for one in tables:
            said[str(one.order.id)] = {
                "known": str(one.known),
                "commits": one.writer.marks.number,
                "replayed": one.replayed,
                "retried": one.retried,
            }
            self._places[str(one.order.id)] = one.order.location
        whole = {"read": self.read, "tables": said, "places": self._places}
        self.fs.replace(self._path, json.dumps(whole, sort_keys=True).encode())

    @property
    def _path(self) -> LakePath:
        return self.folder.child("progress.json")
