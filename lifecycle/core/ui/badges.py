"""Labels of lifecycle classes, modes and reasons. Every page uses the same words."""

from collections.abc import Mapping

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.rules.domain.conformity import Reason
from portal.ui.frame.states import Badge, register_badges

BADGES: Mapping[str, Badge] = {
    ExpiryClass.CLEAN_NOW: Badge("Due", "calendar-x", "bad", "Past its due day."),
    ExpiryClass.SOON: Badge("Due soon", "calendar-due", "warn", "Due within the notice period."),
    ExpiryClass.NOT_NOW: Badge("Not due", "calendar-check", "good", "Young enough to stay."),
    ExpiryClass.STILL_READ: Badge(
        "Recently read",
        "eye",
        "warn",
        "Due, but read in the last 30 days: needs the owner's consent.",
    ),
    ExpiryClass.HELD: Badge("On hold", "lock", "info", "A hold keeps it."),
    ExpiryClass.NOT_ENROLLED: Badge(
        "Not enrolled", "circle-dashed", "quiet", "No LEVEL and TTL of its own: never judged."
    ),
    ExpiryClass.UNSUPPORTED: Badge("Unsupported", "ban", "quiet", "A format that is left alone."),
    ExpiryClass.NONCONFORMING: Badge(
        "Path rule violation", "route-off", "bad", "Its path violates the rules: only reported."
    ),
    "WAIVED": Badge("Excepted", "route", "info", "Its broken rules do not count for now."),
    ExpiryClass.UNREADY: Badge("Not ready", "progress", "info", "commit=false."),
    ExpiryClass.KEEP_FOREVER: Badge("Kept for ever", "infinity", "good", "LEVEL 0."),
    ExpiryClass.MISSING_DIRECTORY: Badge(
        "Directory missing", "folder-off", "bad", "The metastore names a place that is not there."
    ),
    ExpiryClass.UNKNOWN: Badge("Unknown", "help-circle", "quiet", "Could not be judged."),
    DatabaseMode.OBSERVE: Badge(
        DatabaseMode.OBSERVE.label, "eye", "quiet", "Nothing is mailed or dropped."
    ),
    DatabaseMode.NOTIFY: Badge(DatabaseMode.NOTIFY.label, "mail", "info", "Owners are written to."),
    DatabaseMode.ACT: Badge(DatabaseMode.ACT.label, "bolt", "warn", "Drop plans may be made."),
}

REASON_WORDS: Mapping[Reason, tuple[str, str]] = {
    Reason.HAS_OTHER_DB: (
        "Another database is under this path",
        "Move one of the two databases so that neither is under the other.",
    ),
    Reason.OWNER_PATH_FAIL: (
        "The path is not under its owner's directory",
        "Move it under its owner's directory, or hand it to the owner of the directory it is in.",
    ),
    Reason.HAS_OTHER_DB_TBL: (
        "Tables of another database are under this path",
        "Move those tables under their own database.",
    ),
    Reason.DB_PATH_FAIL: (
        "The table's database does not conform",
        "Put the database right first; its tables are judged by it.",
    ),
    Reason.HAS_OTHER_TBL: (
        "Another table is under this path",
        "Give each table a directory of its own.",
    ),
    Reason.PART_PATH_NOT_IN_TBL: (
        "The partition is outside its table",
        "Move the partition's directory under the table's and set its location.",
    ),
    Reason.TBL_NOT_SUB_DB: (
        "The table is not under its database",
        "Move the table's directory under the database's and set its location.",
    ),
}


def register_state_badges() -> None:
    """Tell the kit how the room's states look."""
    register_badges({str(state): look for state, look in BADGES.items()})


def reason_word(reason: str) -> str:
    """Say a reason in words."""
    return REASON_WORDS[Reason(reason)][0]


def reason_remedy(reason: str) -> str:
    """Say what to do about a reason."""
    return REASON_WORDS[Reason(reason)][1]
