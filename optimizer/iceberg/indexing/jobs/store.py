"""Publishes the indexes of one table, and removes what nothing names (docs/indexes.md).

Puffin files first, then a whole manifest under a name that begins with a dot, then a rename. Two
writers at one moment join afterwards; neither waits for the other to end.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.jobs.hadoop_files import HadoopFiles, Listed
from optimizer.indexes.domain import manifest as manifests
from optimizer.indexes.domain.manifest import Manifest
from portal.lake.errors import PortalError, RuleViolation, StaleState
from portal.safety.failpoints import Failpoints

STANDS = timedelta(days=1)
KEPT_MANIFESTS = 3
_TRIES = 12
_LOTS = random.SystemRandom()
_SHORTEST, _LONGEST = 0.02, 1.0  # seconds
_MANIFESTS, _FILES = "manifests", "files"
WRITTEN_BY = "lakewarden"

Change = Callable[[Manifest], Manifest]


class IndexStore:
    """The indexes of one table: its newest manifest, and the Puffin files."""

    def __init__(self, table: IcebergTable, *, fail: Failpoints | None = None) -> None:
        self.table_uuid = UUID(table.uuid)
        self._table = table
        self._fail = fail or Failpoints()
        self._files = HadoopFiles(table, f"{table.location}/_lakewarden/indexes")
        self.warnings: list[str] = []

    def prepare(self) -> None:
        """Make sure that something can be written, before anything is read.

        Raises:
            RuleViolation: `index.not_writable`.
        """
        self._files.make_folders(_MANIFESTS, _FILES)

    def newest(self) -> Manifest:
        """Return what is valid now; nothing where there is no manifest that can be read."""
        return self._joined(self._names())

    def write_puffin(self, parts: Iterable[bytes]) -> str:
        """Write a Puffin file of bytes as they come, and return its name.

        `parts` must not be asked for the name: it is drawn before them.
        """
        name = f"{uuid4()}.puffin"
        with self._fail.step("puffin"):
            self._files.write(f"{_FILES}/{name}", parts)
        return name

    def discard(self, name: str) -> None:
        """Delete a Puffin file that no manifest names yet."""
        self._files.delete(f"{_FILES}/{name}")

    def publish(self, change: Change, *, now: datetime) -> Manifest:
        """Publish the newest manifest with a change; where it changes nothing, nothing is written.

        The change is applied again whenever another writer was there at the same moment, so it must
        give the same whatever it is applied to.

        Raises:
            StaleState: `index.busy`, others publish without a pause.
        """
        for n in range(_TRIES):
            if n > 1:
                # Writers in step would each write what they joined, and meet again and again.
                time.sleep(_LOTS.uniform(0, min(_SHORTEST * 2**n, _LONGEST)))
            names = self._names()
            before = self._joined(names)
            wanted = change(before)
            newest = manifests.newest(names)
            if wanted.covered == before.covered and len(newest) < 2:
                return before
            sequence = 1 + max(before.sequence, *map(_number, newest), 0)
            self._write(wanted, sequence, now=now)
        raise StaleState(
            "index.busy",
            f"{self._table.name}: other programs publish indexes of this table without a pause; "
            "nothing is lost, the rest is published with the next run.",
            table=self._table.name,
        )

    def clean(self, *, stands: timedelta = STANDS) -> int:
        """Remove manifests and Puffin files that nothing names; returns how many files went.

        Where a manifest that stands cannot be read, no Puffin file goes.
        """
        before = datetime.now(UTC) - stands
        puffins = self._files.list(_FILES)
        listed = self._files.list(_MANIFESTS)
        names = sorted(one.name for one in listed if manifests.sequence_of(one.name) is not None)
        kept = set(names[-KEPT_MANIFESTS:])
        gone = [one for one in listed if one.name not in kept and one.written_at < before]
        for one in gone:
            self._files.delete(f"{_MANIFESTS}/{one.name}")
        standing = [name for name in names if name not in {one.name for one in gone}]
        unnamed = self._unnamed(puffins, standing, before)
        for one in unnamed:
            self._files.delete(f"{_FILES}/{one.name}")
        return len(gone) + len(unnamed)

    def _unnamed(
        self, puffins: list[Listed], standing: list[str], before: datetime
    ) -> list[Listed]:
        old = [one for one in puffins if one.written_at < before]
        if not old:
            return []
        named: set[str] = set()
        for name in standing:
            try:
                named.update(self._read(name).files())
            except PortalError as error:
                self._warn(f"{name} cannot be read, so no index file is removed: {error.message}")
                return []
        return [one for one in old if one.name not in named]

    def _write(self, manifest: Manifest, sequence: int, *, now: datetime) -> None:
        name = manifests.manifest_name(sequence, uuid4())
        whole = Manifest(
            self.table_uuid,
            sequence,
            manifest.covered,
            WRITTEN_BY,
            f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        )
        with self._fail.step("manifest"):
            self._files.write(f"{_MANIFESTS}/.{name}", [manifests.write(whole)])
        with self._fail.step("rename"):
            self._files.rename(f"{_MANIFESTS}/.{name}", f"{_MANIFESTS}/{name}")

    def _joined(self, names: list[str]) -> Manifest:
        """Join the manifests of the newest number that can be read; else those of the one before.

        One that is newer than this version, or damaged, is told; what it holds is built again.
        """
        left = list(names)
        while newest := manifests.newest(left):
            found = list(self._readable(newest))
            if found:
                return manifests.joined(found)
            left = [name for name in left if name not in newest]
        return Manifest(self.table_uuid, 0)

    def _readable(self, names: Iterable[str]) -> Iterator[Manifest]:
        for name in names:
            try:
                yield self._read(name)
            except PortalError as error:
                if error.fields.get("why") == "newer":
                    raise self._newer(name) from error
                self._warn(f"The index manifest {name} is passed over: {error.message}")

    def _read(self, name: str) -> Manifest:
        return manifests.read(self._files.read(f"{_MANIFESTS}/{name}"), self.table_uuid)

    def _newer(self, name: str) -> RuleViolation:
        """Return the error of what would be lost if this version published after a newer one."""
        return RuleViolation(
            "index.newer",
            f"{self._table.name}: {name} was written by a newer version; this one publishes "
            "nothing after it. Upgrade it, or let the newer one index this table.",
            table=self._table.name,
        )

    def _names(self) -> list[str]:
        return [one.name for one in self._files.list(_MANIFESTS)]

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def _number(name: str) -> int:
    return manifests.sequence_of(name) or 0
