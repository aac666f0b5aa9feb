"""Front ends of a cluster, and the state of each.

Dead means that nobody can ask it: its caches are gone with it. Frozen, or cut off, means that it
may answer people with what it had; it never counts as fresh and is never left out of a proof.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from portal.lake.errors import ExternalFailure
from refresh.core.domain.versions import Version

_NEEDED = ("Name", "QueryPort", "Alive")
_HOSTS = ("IP", "Host")
# Words of a failure after which the process may still be there, with its caches.
_MAY_LIVE = ("timed out", "timeout", "no route", "unreachable")
_NOTHING = ("", "null", "none", "\\n")


class FeState(StrEnum):
    """What a front end can be counted on for."""

    ALIVE = "ALIVE"
    FROZEN = "FROZEN"
    DEAD = "DEAD"


class Contact(StrEnum):
    """What came of our own last attempt to speak to a front end."""

    ANSWERED = "ANSWERED"
    REFUSED = "REFUSED"
    TIMED_OUT = "TIMED_OUT"


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """One row of SHOW FRONTENDS. `start` is text without a time zone: good for comparing only."""

    name: str
    host: str
    query_port: int
    is_alive: bool
    is_leader: bool
    error: str
    start: str
    version: Version


def read_frontends(rows: Iterable[Mapping[str, object]]) -> list[FrontEnd]:
    """Read the rows by column name, because versions differ in columns and their order.

    Raises:
        ExternalFailure: `starrocks.frontends`, a column that everything hangs on is not there.
    """
    return [_read({name: _text(value) for name, value in row.items()}) for row in rows]


def state_of(
    fe: FrontEnd, *, listed_at: datetime, contact: Contact | None, contact_at: datetime | None
) -> FeState:
    """Judge a front end by the newest of two witnesses: the leader's list, and our own contact.

    The leader sees a dead one only after some heartbeats, and calls dead what it cannot reach
    itself although others can.
    """
    if contact is not None and contact_at is not None and contact_at >= listed_at:
        return {
            Contact.ANSWERED: FeState.ALIVE,
            Contact.REFUSED: FeState.DEAD,
            Contact.TIMED_OUT: FeState.FROZEN,
        }[contact]
    if fe.is_alive:
        return FeState.ALIVE
    said = fe.error.lower()
    return FeState.FROZEN if any(word in said for word in _MAY_LIVE) else FeState.DEAD


def empty_after(
    known: FrontEnd | None, seen: FrontEnd, *, known_at: datetime | None
) -> datetime | None:
    """Return an instant before which nothing in the caches of `seen` was loaded; None if unknown.

    A front end whose start changed began again with empty caches after we last saw the old start.
    """
    if known is None or known_at is None or not known.start or not seen.start:
        return None
    return known_at if seen.start != known.start else None


def _read(row: Mapping[str, str]) -> FrontEnd:
    host = next((row[name] for name in _HOSTS if row.get(name)), "")
    missing = [name for name in _NEEDED if name not in row]
    port = row.get("QueryPort", "")
    if missing or not host or not port.isascii() or not port.isdigit():
        raise ExternalFailure(
            "starrocks.frontends",
            f"SHOW FRONTENDS gave no readable front end: {dict(row)!r}. Its columns Name, IP, "
            "QueryPort and Alive are needed.",
            service="starrocks",
            retryable=False,
        )
    role = row.get("Role", "").upper()
    return FrontEnd(
        name=row["Name"],
        host=host,
        query_port=int(port),
        is_alive=row["Alive"].lower() == "true",
        is_leader=role in ("LEADER", "MASTER") or row.get("IsMaster", "").lower() == "true",
        error=row.get("ErrMsg", ""),
        start=row.get("StartTime", ""),
        version=Version.read(row.get("Version", "")),
    )


def _text(value: object) -> str:
    text = "" if value is None else str(value).strip()
    return "" if text.lower() in _NOTHING else text
