"""Gives a worker access to a lake's files and metastore on behalf of an acting run."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from lifecycle.backup.domain.layout import BackupRef, Day
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.settle.batches import SettleTools
from lifecycle.backup.models import ActFence
from portal.access.lakes import get_lake
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.paths import LakePath


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
    """Yield the tools for looking at, and bringing to rest, what lies at a place."""
    with Metastore.connect(place.config) as metastore:
        yield SettleTools(
            fs=place.fs,
            metastore=metastore,
            lister=list_here(place.fs),
            now=now,
            may_finish=lambda: may_finish,
        )
