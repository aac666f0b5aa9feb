"""Where a change stands in its source, as one number that only grows: the version of a row.

A version is computed from where an event lies in the binary log, so whoever reads the same event
again, after a crash or a replay, gives it the same version. It packs, from the highest bit:

    epoch (10 bits) | number of the log file (20) | byte in the file (32) | second half (1)

Each row of an event takes at least a byte of it, so `start of the event + 1 + index of the row` is
a byte inside the event that no other row has, however many rows an event holds. The second half is
the insert of a change of key, whose delete is the first. A row of a full load has the version of
the position at which its chunk was read: every later change is newer, every earlier one older.

Log positions begin again after RESET MASTER and after a failover; the epoch then goes up by one.
"""

import re
from dataclasses import dataclass
from typing import Self

from portal.lake.errors import RuleViolation

MOST_EPOCHS = 1 << 10
MOST_FILES = 1 << 20
MOST_BYTES = 1 << 32
_FILE = re.compile(r"(?P<base>[^/\s:]{1,200})\.(?P<number>\d{1,10})")


@dataclass(frozen=True, slots=True)
class Position:
    """Between two events of a binary log: `offset` is where the one before ends."""

    epoch: int
    file: str
    offset: int

    def __post_init__(self) -> None:
        found = _FILE.fullmatch(self.file)
        if found is None:
            raise _refused(f"{self.file!r} is no binary log file, as mysql-bin.000001 is.")
        if not 0 <= self.epoch < MOST_EPOCHS:
            raise _refused(f"Epoch {self.epoch} is not below {MOST_EPOCHS}; load the tables again.")
        if int(found["number"]) >= MOST_FILES:
            raise _refused(f"Number of {self.file} is not below {MOST_FILES}; run RESET MASTER.")
        if not 0 <= self.offset < MOST_BYTES:
            raise _refused(f"Offset {self.offset} of {self.file} does not fit into 32 bits.")

    @property
    def number(self) -> int:
        """The number at the end of the file's name."""
        return int(self.file.rpartition(".")[2])

    @property
    def version(self) -> int:
        """The version of rows that were read at this position; changes after it are newer."""
        return packed(self.epoch, self.number, self.offset, half=0)

    def __str__(self) -> str:
        return f"{self.epoch}:{self.file}:{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `epoch:file:offset`, as `str` writes it.

        Raises:
            RuleViolation: `cdc.position`, with what is wrong.
        """
        epoch, _, rest = text.partition(":")
        file, _, offset = rest.rpartition(":")
        if not (epoch.isdecimal() and offset.isdecimal()):
            raise _refused(f"{text!r} is no position; write epoch:file:offset.")
        return cls(int(epoch), file, int(offset))

    def __lt__(self, other: "Position") -> bool:
        return self.version < other.version

    def __le__(self, other: "Position") -> bool:
        return self.version <= other.version


def packed(epoch: int, file_number: int, offset: int, *, half: int) -> int:
    """Pack a version; it is above 0 and below 2^63, and grows with each of its parts in turn."""
    return (epoch << 53) | (file_number << 33) | (offset << 1) | half


def version_of_row(start: Position, *, size: int, row: int, half: int = 0) -> int:
    """Return the version of a row of the event of `size` bytes that begins at `start`.

    Raises:
        RuleViolation: `cdc.position`, where the event has more rows than bytes: it is compressed.
    """
    if not 0 <= row < size - 1:
        raise _refused(
            f"The event at {start} has {size} bytes and more rows; turn log_bin_compress off."
        )
    return packed(start.epoch, start.number, start.offset + 1 + row, half=half)


def _refused(message: str) -> RuleViolation:
    return RuleViolation("cdc.position", message)
