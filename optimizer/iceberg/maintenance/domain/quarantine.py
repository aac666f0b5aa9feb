"""Names the places of orphan files that were moved aside, and the states they can be in.

    <table>/_lakewarden_quarantine/<list>.open/   fence of the move: made by the launcher
    <table>/_lakewarden_quarantine/<list>/        the same after the end of the run
    <table>/_lakewarden_quarantine/<list>.going/  while a run deletes them

Each holds the approved list, byte for byte, and the files by their number on it. Readers and
listings ignore names that begin with an underscore.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

from portal.lake.errors import StaleState
from portal.lake.paths import LakePath

QUARANTINE = "_lakewarden_quarantine"
MANIFEST = "manifest.jsonl"
_FILE = re.compile(r"f(\d{7,})\Z")


class QuarantineState(StrEnum):
    """Where the files of one list are."""

    HELD = "HELD"
    RETURNING = "RETURNING"
    RETURNED = "RETURNED"
    DELETING = "DELETING"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class QuarantinePlace:
    """The directories of one list below its table."""

    table: LakePath
    plan: str

    @property
    def open(self) -> LakePath:
        """Where the run that moves files aside puts them."""
        return self.table.child(QUARANTINE, f"{self.plan}.open")

    @property
    def held(self) -> LakePath:
        """Where they lie after its end."""
        return self.table.child(QUARANTINE, self.plan)

    @property
    def going(self) -> LakePath:
        """Where they lie while a run deletes them."""
        return self.table.child(QUARANTINE, f"{self.plan}.going")


@dataclass(frozen=True, slots=True)
class HeldFile:
    """One file of a list: where it came from, and its name in the quarantine."""

    name: str
    path: str
    size: int


def file_name(place: int) -> str:
    """Return the name in the quarantine of the file at a place on the list."""
    return f"f{place:07d}"


def is_file_name(name: str) -> bool:
    """Return whether a name in a quarantine is that of a file which was moved aside."""
    return _FILE.match(name) is not None


def read_manifest(data: bytes, *, digest: str) -> tuple[Mapping[str, Any], list[HeldFile]]:
    """Return the head and the files of a manifest.

    Raises:
        StaleState: `quarantine.changed`, it is not the list that people approved.
    """
    if sha256(data).hexdigest() != digest:
        raise StaleState(
            "quarantine.changed",
            "The manifest of the quarantine is not the list that was approved. Nothing is done; "
            "find out who changed it.",
        )
    head, *rows = [json.loads(line) for line in data.decode("ascii").split("\n") if line]
    return head, [
        HeldFile(file_name(n), str(row["path"]), int(row["size"])) for n, row in enumerate(rows)
    ]
