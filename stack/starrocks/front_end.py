"""One front end: its process, its caches, and how it refreshes itself."""

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from stack.starrocks.catalog_cache import CatalogCache
from stack.starrocks.hive import Hive
from stack.starrocks.link import Link
from stack.starrocks.resource_cache import ResourceCache
from stack.starrocks.spec import Member, Spec
from stack.starrocks.texts import SqlError


class Life(StrEnum):
    """How a process may be."""

    RUNNING = "RUNNING"
    FROZEN = "FROZEN"
    DEAD = "DEAD"
    GARBAGE = "GARBAGE"
    # Registered, and never started since.
    UNSTARTED = "UNSTARTED"


NOT_LISTENING = (Life.DEAD, Life.UNSTARTED)


class ProcessEnded(Exception):
    """The process that a thread belonged to is dead; nothing more is said to anybody."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is refreshed: a Hive table behind a catalog or a resource; no partitions = the table.

    `shown` is the name that StarRocks uses.
    """

    source: str
    db: str
    table: str
    shown: str
    partitions: tuple[str, ...] = ()


class FrontEnd:
    """A process with caches. Threads of a process that was killed end at their next `pause`."""

    def __init__(self, number: int, member: Member, *, spec: Spec, hives: dict[str, Hive]) -> None:
        self.name = f"{member.host}_9010_{number}"
        self.number = number
        self.host = member.host
        self.port = member.port
        self.is_observer = member.role == "OBSERVER"
        self.spec = spec
        self.life = self.life_before = Life.RUNNING if member.is_started else Life.UNSTARTED
        # What ADMIN SET changed; a start loses it.
        self.config: dict[str, str] = {}
        self.changed_at = time.monotonic() - 3600
        self.started = datetime.now(UTC).replace(microsecond=0)
        self.links = {
            uris: Link(hive, timeout_seconds=spec.timings.metastore_timeout, gate=self._go_on)
            for uris, hive in hives.items()
        }
        # Front ends to which this one holds an open connection.
        self.pooled: set[str] = set()
        self.n_lives = 0
        self._state = threading.Condition()
        self._forget()

    def _forget(self) -> None:
        lock = threading.Lock()
        self.catalogs = {
            name: CatalogCache(self.links[uris]) for name, uris in self.spec.catalogs.items()
        }
        self.resources = {
            name: ResourceCache(self.links[uris], lock=lock)
            for name, uris in self.spec.resources.items()
        }

    # -- life ------------------------------------------------------------------------------

    def set_life(self, life: Life) -> None:
        """Freeze, kill, let babble or run on; a dead one that runs again starts empty."""
        with self._state:
            if life is self.life:
                return
            if life is Life.DEAD:
                self.n_lives += 1
                self.pooled.clear()
            elif self.life in NOT_LISTENING:
                now = datetime.now(UTC).replace(microsecond=0)
                # A real one is never up again within the second that its start is told in.
                self.started = max(now, self.started + timedelta(seconds=1))
                self.config.clear()
                self._forget()
            self.life_before, self.life = self.life, life
            self.changed_at = time.monotonic()
            self._state.notify_all()

    def pause(self, n_lives: int) -> None:
        """Wait while frozen; ProcessEnded in a thread of a process that was killed."""
        with self._state:
            while self.life is Life.FROZEN and self.n_lives == n_lives:
                self._state.wait()
            if self.n_lives != n_lives or self.life in NOT_LISTENING:
                raise ProcessEnded

    def _go_on(self) -> None:
        self.pause(self.n_lives)

    # -- refresh ---------------------------------------------------------------------------

    def refresh(self, target: Target) -> None:
        """Refresh this front end's own caches."""
        caches = self.resources if self.spec.is_old else self.catalogs
        cache = caches[target.source]
        if target.partitions:
            cache.refresh_partitions(target.db, target.table, target.partitions)
        else:
            cache.refresh_table(target.db, target.table)

    def refresh_as_asked(self, target: Target) -> None:
        """Refresh because another front end asks; a name that is not found is said otherwise."""
        if not self.spec.is_old:
            cache = self.catalogs[target.source]
            if not cache.has_database(target.db):
                raise SqlError(1064, f"db: {target.db} not exists")
            try:
                cache.table(target.db, target.table)
            except SqlError as error:
                if "NoSuchObjectException" in str(error):
                    raise SqlError(1064, f"table {target.shown} not exists") from error
                raise
        self.refresh(target)
