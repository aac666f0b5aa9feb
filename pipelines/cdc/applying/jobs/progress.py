"""What a pipeline remembers between two programs: its checkpoint, and which batches tables have.

Losing it costs time and nothing else. The commits of the tables say which batches they have, and a
batch that is applied again changes nothing.
"""

import json
import uuid
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
    checkpoint: str = ""
    seen: Numbers = field(default_factory=Numbers)
    _tables: Mapping[str, Any] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)
    """Locations of tables, also of those that have no order for a moment."""

    def load(self) -> None:
        """Read it; one that is missing or no JSON begins a new checkpoint."""
        self.fs.make_directories(self.folder, mode=_PRIVATE)
        try:
            said = json.loads(self.fs.read(self._path))
        except (NotVisible, ValueError):
            said = {}
        self.checkpoint = said.get("checkpoint", "")
        self.seen = Numbers.parse(said.get("seen", ""))
        self._tables = said.get("tables", {})
        self._places = said.get("places", {})
        if not self.checkpoint:
            self.begin_again()

    def begin_again(self) -> None:
        """Have the changelog read from its first batch: tables skip what they have."""
        self.checkpoint = f"checkpoint-{uuid.uuid4().hex}"
        self.seen = Numbers()

    def restore(self, table: TableRun) -> bool:
        """Tell a table which batches it has; False where it lost some, or lies elsewhere now."""
        said = self._tables.get(str(table.order.id), {})
        marks = table.writer.marks
        place = table.order.location
        if self._places.get(str(table.order.id), place) != place:
            table.known = marks.batches
            return False
        table.replayed, table.retried = tuple(said.get("replayed", ())), said.get("retried", "")
        table.known = marks.batches
        if marks.number < int(said.get("commits", 0)):
            return False
        if said:
            table.known |= Numbers.parse(said["known"])
        return True

    def knows(self, table: TableRun) -> bool:
        """Whether an earlier program had an order for a table."""
        return str(table.order.id) in self._tables

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
        whole = {
            "checkpoint": self.checkpoint,
            "seen": str(self.seen),
            "tables": said,
            "places": self._places,
        }
        self.fs.replace(self._path, json.dumps(whole, sort_keys=True).encode())

    @property
    def checkpoint_path(self) -> LakePath:
        """Where Spark keeps the checkpoint."""
        return self.folder.child(self.checkpoint)

    @property
    def _path(self) -> LakePath:
        return self.folder.child("progress.json")
