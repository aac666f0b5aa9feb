"""Somebody whose stream leaves small files in an Iceberg table of the demo's lake."""

import sys
from collections.abc import Sequence

from stack.servers.lake_writer import LakeWriter


class StreamWriter(LakeWriter):
    """`python -m stack.lake.stream`: a small Spark that ends by itself after its last commit."""

    name = "stream-writer"

    def command(self) -> Sequence[str]:
        """Return the module's argv."""
        return [sys.executable, "-m", "stack.lake.stream", str(self._lakes)]
