"""What does a worker need to touch a lake's files and metastore on behalf of an acting run?"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from portal.access.lakes import get_lake
from portal.act.facts import list_here
from portal.act.layout import BackupRef, Day
from portal.act.models import ActFence
from portal.act.settle import SettleTools
from portal.act.states import FenceKind
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from portal.runs.domain import HOST_GONE_GRACE
from portal.runs.models import Run
from portal.runs.processes import find_by_tag
from portal.spark.launch import Launched, is_alive
from portal.spark.process_table import host_identity


@dataclass(frozen=True, slots=True)
class Place:
    """One fence with its file system; gives the directories behind it."""

    fence: ActFence
    config: LakeConfig
    fs: FileSystem

    @classmethod
    def of(cls, fence: ActFence) -> "Place":
        """Open the file system on which a fence stands."""
        config = get_lake(fence.lake)
        return cls(fence, config, open_file_system(config.path(fence.root), config=config))

    @property
    def day(self) -> Day:
        """The day directory of the fence."""
        return Day(self.config.path(self.fence.root), self.fence.day)

    @property
    def path(self) -> LakePath:
        """The fence itself."""
        return self.day.fence(FenceKind(self.fence.kind), str(self.fence.run_id), self.fence.epoch)

    @property
    def claims(self) -> list[BackupRef]:
        """The backups that the fence's run took."""
        return [BackupRef(claim["run"], claim["epoch"]) for claim in self.fence.claims]

    def claimed(self, ref: BackupRef) -> LakePath:
        """Where a claimed backup lies while the run has it."""
        return self.path.child(ref.claimed_name)

    def sealed(self, ref: BackupRef) -> LakePath:
        """Where a backup lies otherwise."""
        return self.day.sealed(ref.run, ref.epoch)

    def at_rest(self) -> list[LakePath]:
        """The directories that the run worked on, as they lie after its end."""
        if self.fence.kind == FenceKind.DROP:
            return [self.day.sealed(str(self.fence.run_id), self.fence.epoch)]
        if self.fence.kind == FenceKind.MOVE:
            return [self.day.moved(str(self.fence.run_id), self.fence.epoch)]
        return [self.sealed(ref) for ref in self.claims]


@contextmanager
def settle_tools(place: Place, *, now: datetime, may_finish: bool) -> Iterator[SettleTools]:
    """Give the tools for looking at, and bringing to rest, what lies at a place."""
    with Metastore.connect(place.config) as metastore:
        yield SettleTools(
            fs=place.fs,
            metastore=metastore,
            lister=list_here(place.fs),
            now=now,
            may_finish=lambda: may_finish,
        )


class Leased(Protocol):
    """A fence of any kind, as far as its lease goes."""

    @property
    def lease_until(self) -> datetime:
        """Return the end of its lease."""


def check_ended(run: Run, fence: Leased, *, now: datetime) -> None:
    """Make sure that nothing of the run's application is left to act.

    On the launching host its process group must be empty, also one that was started and never
    stored; where that host is gone, the lease must have been over for 60 s.

    Raises:
        ExternalFailure: `act.alive`, retryable: look again later.
    """
    if _may_act(run, fence, now=now):
        raise ExternalFailure(
            "act.alive",
            "The run's application has not ended yet; it is settled as soon as it has.",
            service="spark",
            retryable=True,
        )


def _may_act(run: Run, fence: Leased, *, now: datetime) -> bool:
    if not run.tag and run.pid is None:
        return False
    if run.host != host_identity():
        return now < fence.lease_until + HOST_GONE_GRACE
    if run.pid is None or run.pgid is None:
        return find_by_tag(run.tag) is not None
    return is_alive(Launched(run.host, run.pid, run.pid_started or 0.0, run.pgid))
