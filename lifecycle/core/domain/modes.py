"""How far the portal is trusted with a database: it watches, it writes to people, or it acts."""

from enum import StrEnum


class DatabaseMode(StrEnum):
    """OBSERVE writes nothing to the lake and mails nobody; NOTIFY mails; ACT may drop."""

    OBSERVE = "OBSERVE"
    NOTIFY = "NOTIFY"
    ACT = "ACT"

    @property
    def label(self) -> str:
        """What pages, mails and errors call it."""
        return _LABELS[self]

    @property
    def may_notify(self) -> bool:
        """Whether owners get expiry notices."""
        return self is not DatabaseMode.OBSERVE

    @property
    def may_act(self) -> bool:
        """Whether drop plans may be made."""
        return self is DatabaseMode.ACT


_LABELS = {
    DatabaseMode.OBSERVE: "Monitor only",
    DatabaseMode.NOTIFY: "Notify",
    DatabaseMode.ACT: "Enforce",
}
_ORDER = (DatabaseMode.OBSERVE, DatabaseMode.NOTIFY, DatabaseMode.ACT)


def can_change(current: DatabaseMode, wanted: DatabaseMode) -> bool:
    """Whether one decision may lead from one mode to the other: back freely, on a step at a time.

    One step at a time, so that owners have been written to before anything of theirs goes.
    """
    return current is not wanted and _ORDER.index(wanted) - _ORDER.index(current) <= 1
