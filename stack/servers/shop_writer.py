"""The applications of the demo's shop, whose database is captured."""

import sys
from collections.abc import Sequence
from pathlib import Path

from stack.ledger import Ledger
from stack.places import REPO
from stack.servers.base import Server


class ShopWriter(Server):
    """`python -m stack.lake.shop`: makes the shop's tables, then sells."""

    name = "shop-writer"

    def __init__(self, var: Path, *, ledger: Ledger, socket: Path) -> None:
        super().__init__(var, ledger=ledger)
        self._socket = socket

    def prepare(self) -> None:
        """Run where the module is found; keep no folder of its own."""
        self.directory = REPO

    def command(self) -> Sequence[str]:
        """Return the module's argv."""
        return [sys.executable, "-m", "stack.lake.shop", str(self._socket)]

    def is_ready(self) -> bool:
        """Whether the shop said that its tables are there."""
        return "open" in self.process.said()
