"""States of backups, probes and holds. Shared by models and the pure protocol."""

from enum import StrEnum


class BackupState(StrEnum):
    """Where the data of one backup batch is."""

    DROPPED = "DROPPED"
    PARTLY_RESTORED = "PARTLY_RESTORED"
    RESTORED = "RESTORED"
    PURGING = "PURGING"
    PURGED = "PURGED"
    REPORTED = "REPORTED"


class HoldKind(StrEnum):
    """Why an item must not be touched.

    It was brought back, a case, its owner's request for days.
    """

    RESTORE = "RESTORE"
    LEGAL = "LEGAL"
    EXTENSION = "EXTENSION"


class FenceKind(StrEnum):
    """What an acting run does behind its fence."""

    DROP = "DROP"
    RESTORE = "RESTORE"
    PURGE = "PURGE"
    MOVE = "MOVE"


class ProbeState(StrEnum):
    """Whether a backup has been looked at again."""

    DUE = "DUE"
    CLEAN = "CLEAN"
    LATE_COMMIT = "LATE_COMMIT"
    DAMAGED = "DAMAGED"
