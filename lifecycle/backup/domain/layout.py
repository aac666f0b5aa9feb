"""Layout of a backup root. The only definition in code of the directories of journal.md.

<root>/lakewarden-root.json
<root>/<day>/open/<run>/<epoch>/            fence of a drop; its items, intents, dones, lease, and
                                            a program that restores them without the portal
<root>/<day>/sealed/<run>/<epoch>/          the same after the end
<root>/<day>/restoring/<restore>/<epoch>/   fence of a restore; holds claimed <run>.<epoch>/
<root>/<day>/moving/<run>/<epoch>/          fence of a move of data to another place
<root>/<day>/moved/<run>/<epoch>/           the same after the end: intents and dones, no data
<root>/<day>/purging/<purge>/<epoch>/       fence of a purge; holds claimed <run>.<epoch>/, and
                                            <run>.<epoch>.purged/ once nothing but papers is left
<root>/drills/<run>/<epoch>/                copies that a restore test made, cleared at its end
"""

import re
from dataclasses import dataclass
from datetime import date

from lifecycle.backup.domain.states import FenceKind
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

MARKER = "lakewarden-root.json"
SCRIPT = "restore_backup.py"

_RUN = re.compile(r"[0-9a-zA-Z-]{1,64}\Z")
_CLAIMED = re.compile(r"([0-9a-zA-Z-]{1,64})\.(\d+)\Z")
_ITEM = re.compile(r"b\d{7,}-i\d{3,}\Z")
_INTENT = re.compile(r"intent\.(\d+)\.json\Z")
_TELLS = re.compile(r"(?:intent|done|purged)\.(\d+)\.json\Z")
_RESTORE = re.compile(r"(restore\.[0-9a-zA-Z-]{1,64}\.\d+\.(\d+))\.(intent|done)\.json\Z")


@dataclass(frozen=True, slots=True)
class BackupRef:
    """One epoch of one drop run: a directory of items with their intents and dones."""

    run: str
    epoch: int

    @property
    def claimed_name(self) -> str:
        """The directory's name while a restore or purge has it."""
        return f"{self.run}.{self.epoch}"

    @property
    def purged_name(self) -> str:
        """The directory's name once a purge has emptied it: the proof that nothing is left."""
        return f"{self.run}.{self.epoch}.purged"


@dataclass(frozen=True, slots=True)
class Day:
    """The directory of one day under one backup root."""

    root: LakePath
    day: date

    @property
    def path(self) -> LakePath:
        """The day's directory."""
        return self.root.child(self.day.isoformat())

    def open(self, run: str, epoch: int) -> LakePath:
        """The fence of a drop run."""
        return self.path.child("open", _run(run), str(epoch))

    def sealed(self, run: str, epoch: int) -> LakePath:
        """Where a drop run's items lie after its end."""
        return self.path.child("sealed", _run(run), str(epoch))

    def moving(self, run: str, epoch: int) -> LakePath:
        """The fence of a run that moves data to another place."""
        return self.path.child("moving", _run(run), str(epoch))

    def moved(self, run: str, epoch: int) -> LakePath:
        """Where the papers of a run of moves lie after its end."""
        return self.path.child("moved", _run(run), str(epoch))

    def taken(self, kind: FenceKind, run: str, epoch: int) -> LakePath:
        """The fence of a restore or purge run."""
        return self.path.child(
            "restoring" if kind is FenceKind.RESTORE else "purging", _run(run), str(epoch)
        )

    def fence(self, kind: FenceKind, run: str, epoch: int) -> LakePath:
        """The fence of any acting run."""
        if kind is FenceKind.DROP:
            return self.open(run, epoch)
        if kind is FenceKind.MOVE:
            return self.moving(run, epoch)
        return self.taken(kind, run, epoch)


def item_name(batch: int, index: int) -> str:
    """Name the directory of one item in the backup."""
    return f"b{batch:07d}-i{index:03d}"


def is_item(name: str) -> bool:
    """Whether a name in a backup's directory is an item's, so that data may lie there."""
    return _ITEM.match(name) is not None


def first_batch(epoch: int) -> int:
    """Return the first batch number of an epoch; numbers of two epochs never meet."""
    return (epoch - 1) * 100_000 + 1


def intent_name(batch: int) -> str:
    """Name the file that says what a batch is about to do."""
    return f"intent.{batch}.json"


def done_name(batch: int) -> str:
    """Name the file that says what became of a batch."""
    return f"done.{batch}.json"


def purge_mark(batch: int) -> str:
    """Name the file that says that a batch's purge has begun: nothing is restored from it now."""
    return f"purged.{batch}.json"


def restore_intent_name(restore: str, epoch: int, batch: int) -> str:
    """Name the file that says what a restore is about to do with items of `batch`."""
    return f"restore.{_run(restore)}.{epoch}.{batch}.intent.json"


def restore_done_name(restore: str, epoch: int, batch: int) -> str:
    """Name the file that says what a restore did with items of `batch`."""
    return f"restore.{_run(restore)}.{epoch}.{batch}.done.json"


def batch_of_intent(name: str) -> int | None:
    """Read the batch number from an intent file's name; None for any other file."""
    match = _INTENT.match(name)
    return int(match.group(1)) if match else None


def batch_of_name(name: str) -> int | None:
    """Read which batch an intent, done, purge mark or restore file tells of; None for others."""
    match = _TELLS.match(name)
    if match:
        return int(match.group(1))
    file = read_restore_file(name)
    return file.batch if file else None


@dataclass(frozen=True, slots=True)
class RestoreFile:
    """What a restore's file name says: which pair it belongs to, which batch, which half."""

    stem: str
    batch: int
    is_done: bool


def read_restore_file(name: str) -> RestoreFile | None:
    """Read the name of a restore's intent or done; None for any other file."""
    match = _RESTORE.match(name)
    return RestoreFile(match[1], int(match[2]), match[3] == "done") if match else None


def read_claimed(name: str) -> BackupRef | None:
    """Read `<run>.<epoch>`, the name of a claimed backup; None for any other name."""
    match = _CLAIMED.match(name)
    return BackupRef(match.group(1), int(match.group(2))) if match else None


def _run(run: str) -> str:
    if not _RUN.match(run):
        raise RuleViolation("act.run", f"{run!r} is not the id of a run.")
    return run
