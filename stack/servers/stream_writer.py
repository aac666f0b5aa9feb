"""Somebody whose stream leaves small files in an Iceberg table of the demo's lake."""

import sys
from collections.abc import Sequence
from pathlib import Path

from stack.lake.clicks import LIVE
from stack.ledger import Ledger
from stack.servers.lake_writer import LakeWriter


class StreamWriter(LakeWriter):
    """`python -m stack.lake.stream`: a small Spark that ends by itself after its last commit."""

    name = "stream-writer"

    def __init__(
        self, var: Path, *, ledger: Ledger, lakes: Path, report_uri: str, token_file: Path
    ) -> None:
        super().__init__(var, ledger=ledger, lakes=lakes, lake=str(LIVE.lake))
        self._reports = (report_uri, str(token_file))

    def command(self) -> Sequence[str]:
        """Return the module's argv."""
        return [sys.executable, "-m", "stack.lake.stream", str(self._lakes), *self._reports]
