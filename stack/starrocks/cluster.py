"""A cluster: its registered front ends, who leads them, what the leader last heard of each."""

import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from stack.starrocks.front_end import FrontEnd, Life
from stack.starrocks.hive import Hive
from stack.starrocks.spec import Member, ResourceTable, Spec, User

_KEPT = 10_000
_WORDS = {
    Life.DEAD: "Connection refused",
    Life.FROZEN: "Read timed out",
    Life.UNSTARTED: "Connection refused",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement as the audit log of a front end has it."""

    at: str
    front_end: str
    user: str
    statement: str
    error: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Heard:
    """What the leader heard of a front end at the last heartbeat."""

    is_alive: bool
    words: str


class Cluster:
    """All front ends of one process, and what they share."""

    def __init__(self, spec: Spec, *, hives: dict[str, Hive]) -> None:
        self.spec = spec
        self._hives = hives
        self.front_ends = [
            FrontEnd(number, member, spec=spec, hives=hives)
            for number, member in enumerate(spec.members, start=1)
        ]
        self.users: dict[str, User] = dict(spec.users)
        self.audit: deque[Entry] = deque(maxlen=_KEPT)
        self._tables = {(table.db, table.name): table for table in spec.tables}
        self._numbers = threading.Lock()
        self._last_number = 0

    def front_end(self, name: str) -> FrontEnd:
        """Find a front end by its name or its host."""
        for fe in self.front_ends:
            if name in (fe.name, fe.host):
                return fe
        raise KeyError(name)

    def next_connection(self) -> int:
        """Return a connection's number."""
        with self._numbers:
            self._last_number += 1
            return self._last_number

    def leader(self) -> FrontEnd | None:
        """Return who leads: the first follower that can, without the seconds of an election."""
        able = (Life.RUNNING, Life.GARBAGE)
        voters = [fe for fe in self.front_ends if not fe.is_observer]
        return next((fe for fe in voters if fe.life in able), None)

    def register(self, member: Member) -> FrontEnd:
        """Add a front end, as ALTER SYSTEM ADD FOLLOWER or OBSERVER would; its process is apart."""
        number = max(fe.number for fe in self.front_ends) + 1
        fe = FrontEnd(number, member, spec=self.spec, hives=self._hives)
        self.front_ends.append(fe)
        return fe

    def heard_of(self, fe: FrontEnd) -> Heard:
        """Say what the last heartbeat told; a change is heard of only after one."""
        is_old_news = time.monotonic() - fe.changed_at < self.spec.timings.heartbeat
        life = fe.life_before if is_old_news and fe is not self.leader() else fe.life
        return Heard(life not in _WORDS, _WORDS.get(life, ""))

    def last_heartbeat(self, fe: FrontEnd) -> datetime:
        """Say when a front end last answered the leader, to a heartbeat."""
        silent = time.monotonic() - fe.changed_at if fe.life in _WORDS else 0.0
        return datetime.now(UTC) - timedelta(seconds=silent)

    def wait_for_listing(self) -> None:
        """Wait as SHOW FRONTENDS does for a frozen one, which ends when that one thaws."""
        until = time.monotonic() + self.spec.timings.listing_with_a_frozen_one
        while time.monotonic() < until and self._is_any_frozen():
            time.sleep(0.02)

    def _is_any_frozen(self) -> bool:
        return any(fe.life is Life.FROZEN for fe in self.front_ends)

    def add_table(self, table: ResourceTable) -> None:
        """Keep a table on a resource (2.2), as CREATE EXTERNAL TABLE would."""
        self._tables[table.db, table.name] = table

    def resource_table(self, db: str, name: str) -> ResourceTable | None:
        """Find a table on a resource (2.2)."""
        return self._tables.get((db, name))

    def resource_databases(self) -> dict[str, list[str]]:
        """Return StarRocks' own databases with their tables (2.2)."""
        found: dict[str, list[str]] = {}
        for db, name in sorted(self._tables):
            found.setdefault(db, []).append(name)
        return found

    def note(self, fe: FrontEnd, *, user: str, statement: str, error: int, seconds: float) -> None:
        """Write the audit log."""
        entry = Entry(
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            front_end=fe.name,
            user=user,
            statement=statement[:1000],
            error=error,
            milliseconds=round(seconds * 1000),
        )
        self.audit.append(entry)
        print("|".join(str(value) for value in asdict(entry).values()), flush=True)

    def calls(self) -> Mapping[str, Mapping[str, int]]:
        """Return the calls to the metastore by front end, as its audit log would by address."""
        counted: dict[str, dict[str, int]] = {}
        for fe in self.front_ends:
            total: dict[str, int] = {}
            for link in fe.links.values():
                for call, number in list(link.calls.items()):
                    total[call] = total.get(call, 0) + number
            counted[fe.name] = total
        return counted
