"""Waits until the lake's table has everything that the source had at a position."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from pipelines.cdc.applying.domain.folders import Kept, folder_of
from pipelines.cdc.applying.domain.messages import TableOrder
from pipelines.cdc.applying.domain.numbers import Numbers
from pipelines.cdc.capture.domain.loads import read as read_loads
from pipelines.cdc.changes.domain.positions import Position
from pipelines.cdc.changes.domain.records import Header
from portal.connectors.file_status import FileSystem
from portal.lake.errors import ExternalFailure, NotVisible, StaleState
from portal.lake.paths import LakePath

_PAUSE = 0.5


@dataclass(frozen=True)
class LakeProgress:
    """What the changelog and the apply's own folder say of a table."""

    log_end: Callable[[], tuple[int, Header] | None]
    """Returns number and header of the changelog's last batch."""
    fs: FileSystem
    folder: LakePath
    order: TableOrder
    first_batch: int
    check: Callable[[], None]
    """Raises where the program is to end."""

    def wait(self, position: Position, *, seconds: float) -> None:
        """Wait until all changes before a position are captured and applied.

        Raises:
            StaleState: `cdc.reconcile_late`, `cdc.reconcile_loading`.
        """
        patient = time.monotonic() + seconds
        number = None
        while True:
            self.check()
            try:
                number = number or self._batch_after(position)
                missing = self._missing(number) if number else "the capture has not read so far"
            except ExternalFailure as error:
                if not error.retryable:
                    raise
                missing = error.message.rstrip(".")
            if not missing:
                return
            if time.monotonic() >= patient:
                raise StaleState(
                    "cdc.reconcile_late",
                    f"{self.order.name} was read up to {position}, but the lake did not come so "
                    f"far in {seconds:.0f} s: {missing}.",
                )
            time.sleep(_PAUSE)

    def _batch_after(self, position: Position) -> int | None:
        """Return the number of a batch behind which everything before a position is captured."""
        end = self.log_end()
        if end is None or Position.parse(end[1].end) < position:
            return None
        load = read_loads(end[1].loads).get((self.order.db, self.order.table))
        if load is not None and not load.is_done:
            raise StaleState("cdc.reconcile_loading", f"{self.order.name} is being loaded.")
        return end[0]

    def _missing(self, number: int) -> str:
        """Say what of the batches up to a number the table lacks; empty: nothing."""
        try:
            said = json.loads(self.fs.read(self.folder.child("progress.json")))
        except (NotVisible, ValueError):
            said = {}
        mine = said.get("tables", {}).get(str(self.order.id))
        if mine is None:
            return "nothing was applied yet"
        begin = max(self.first_batch, self.order.first_batch)
        first = Numbers.parse(mine["known"]).first_missing(begin)
        if first <= number:
            return f"batch {first} of {number} is not applied"
        if self._waits():
            return "records of it wait"
        turns = {one.turn for one in self.order.replays} - set(mine["replayed"])
        return "values kept aside are not filled in" if turns else ""

    def _waits(self) -> bool:
        folder = self.folder.child(*folder_of(self.order.name, Kept.WAITING))
        try:
            return any(one.path.name.endswith(".parquet") for one in self.fs.walk(folder))
        except NotVisible:
            return False
