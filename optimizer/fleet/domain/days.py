"""What a lake's scans of one day read and did not read, by what left it out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from optimizer.indexes.domain.envelope import Kind

PLANNING, CUBES = "planning", "cubes"
CAUSES: tuple[str, ...] = (PLANNING, *(kind.value for kind in Kind), CUBES)
"""What leaves bytes out, in the order in which engines ask."""


@dataclass(frozen=True, slots=True)
class ScannedDay:
    """The scans of one day; what no engine reported is 0."""

    day: date
    n_scans: int = 0
    n_files: int = 0
    """Left to read by planning."""
    planned_bytes: int = 0
    """Of those files."""
    n_skipped: int = 0
    """Files that planning left out."""
    n_unsized: int = 0
    """Of them, those of tables whose size was not known: no bytes stand for them."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Bytes by what left them out, of `CAUSES`."""

    @property
    def read_bytes(self) -> int:
        """Of the planned bytes those that no index dropped; planning comes before indexes."""
        dropped = sum(n for cause, n in self.skipped.items() if cause not in (PLANNING, CUBES))
        return max(0, self.planned_bytes - dropped)

    @property
    def skipped_bytes(self) -> int:
        """All that was left out."""
        return sum(self.skipped.values())

    @property
    def skipped_percent(self) -> float | None:
        """What was left out, of all that would have been read; None where nothing would."""
        whole = self.read_bytes + self.skipped_bytes
        return 100 * self.skipped_bytes / whole if whole else None
