"""Somebody who writes one table of a lake of the demo all the time."""

import sys
from collections.abc import Sequence
from pathlib import Path

from stack.ledger import Ledger
from stack.places import REPO
from stack.servers.base import Server


class LakeWriter(Server):
    """`python -m stack.lake.live`: a little Thrift, no Spark, no JVM."""

    name = "lake-writer"

    def __init__(self, var: Path, *, ledger: Ledger, lakes: Path, lake: str) -> None:
        self.name = f"{self.name}-{lake}"
        super().__init__(var, ledger=ledger)
        self._lakes = lakes
        self._lake = lake

    def prepare(self) -> None:
        """Run where the module is found; keep no folder of its own."""
        self.directory = REPO

    def command(self) -> Sequence[str]:
        """Return the module's argv."""
        return [sys.executable, "-m", "stack.lake.live", str(self._lakes), self._lake]

    def is_ready(self) -> bool:
        """Whether it runs; it says no more than that."""
        return self.process.is_alive()
