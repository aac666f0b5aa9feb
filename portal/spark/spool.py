"""A run's folder that portal and cluster both reach: request, progress, control, manifest, results.

Every file is written whole (written beside, then renamed), so a reader never sees half of one.
Progress files are numbered and never appended to: a growing file cannot be read safely on HDFS.
"""

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from portal.connectors.file_status import FAILED
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure, NotVisible, StaleState
from portal.lake.paths import LakePath

_REQUEST = "request.json"
_MANIFEST = "manifest.json"
# A client turns to the NameNodes in their order: the one that froze may be the second of two, and
# comes first again in the next turn.
_MORE_TRIES = 2
_CONTROL = "control.json"
_PROGRESS = "progress-"
_PASSING = "· "
"""Before what changes all the time."""
_BEAT = "beat.json"
_ENVIRONMENT = "environment.json"
_OUTPUT = "driver-{name}.log"


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a job; `n` counts from 1, `total` is 0 where it is not known."""

    n: int
    phase: str
    done: int
    total: int
    message: str
    at: str
    application_id: str = ""
    """What Spark's cluster calls the application; drivers of older releases do not say it."""
    passing: str = ""
    """What changes all the time: pages show it behind the message, and the log leaves it out."""

    @property
    def shown(self) -> str:
        """The message as pages show it."""
        return f"{self.message} {_PASSING}{self.passing}".lstrip() if self.passing else self.message

    @staticmethod
    def lasting(shown: str) -> str:
        """Return the message of what pages show."""
        return shown.partition(_PASSING)[0].rstrip()

    @classmethod
    def make(
        cls, n: int, *, phase: str, done: int, total: int, message: str, at: datetime
    ) -> "Progress":
        """Build a step with its instant as ISO text."""
        return cls(n, phase, done, total, message, at.astimezone(UTC).isoformat())

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "Progress":
        """Read a step; what a driver of a newer release says beside it is left out."""
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})


class Spool:
    """The folder of one epoch of one run."""

    def __init__(self, fs: FileSystem, root: LakePath) -> None:
        self.fs = fs
        self.root = root

    @classmethod
    def for_run(cls, config: LakeConfig, run_id: str, epoch: int) -> "Spool":
        """Return the spool of a run's epoch: `<spool>/<run>/<epoch>`; nothing is made yet."""
        return cls.at(config, str(config.path(config.spool).child(str(run_id), str(epoch))))

    @classmethod
    def at(cls, config: LakeConfig, uri: str) -> "Spool":
        """Return the spool at a stored address."""
        root = config.path(uri)
        return cls(open_file_system(root, config=config), root)

    @property
    def results(self) -> LakePath:
        """Where the job writes its Parquet."""
        return self.root.child("results")

    @property
    def uploads(self) -> LakePath:
        """Where spark-submit puts the files of a driver on Kubernetes; by it alone."""
        return self.root.child("upload")

    def create(self) -> None:
        """Make the folder, 0700; twice is no error."""
        self.fs.make_directories(self.root, mode=0o700)

    def write_request(self, request: Mapping[str, Any]) -> None:
        """Write what the job gets; a second launch of the same epoch writes the same again."""
        self._write(_REQUEST, request)

    def read_request(self) -> dict[str, Any]:
        """Read what the launcher wrote; NotVisible `fs.missing` before that."""
        return self._read(_REQUEST)

    def write_progress(self, progress: Progress) -> None:
        """Write one numbered step; a number that is taken is left as it is."""
        path = self.root.child(f"{_PROGRESS}{progress.n:06d}.json")
        with contextlib.suppress(StaleState):
            _insist(lambda: self.fs.write_new(path, _dump(asdict(progress))))

    def progress_after(self, n: int) -> list[Progress]:
        """Return the steps with a number above `n`, in order; none before the job has begun."""
        try:
            names = self.fs.names(self.root)
        except NotVisible:
            return []
        wanted = [
            name
            for name in names
            if name.startswith(_PROGRESS) and int(name[len(_PROGRESS) : -len(".json")]) > n
        ]
        return [Progress.read(self._read(name)) for name in wanted]

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write the end of the job; the last thing it does."""
        self._write(_MANIFEST, manifest)

    def read_manifest(self) -> dict[str, Any] | None:
        """Read how the job ended, or None while it has not said so."""
        return self._read_or_none(_MANIFEST)

    def write_control(self, control: Mapping[str, Any]) -> None:
        """Write what the portal asks of the running job: cancel, emergency stop, which holds."""
        self._write(_CONTROL, control)

    def read_control(self) -> dict[str, Any]:
        """Read what the portal asks; nothing written yet means nothing asked."""
        return self._read_or_none(_CONTROL) or {}

    def write_beat(self, counts: Mapping[str, int | None]) -> None:
        """Write the heartbeat of a driver on a cluster."""
        self._write(_BEAT, counts)

    def read_beat(self) -> dict[str, Any]:
        """Read the heartbeat; empty before the first one."""
        return self._read_or_none(_BEAT) or {}

    def write_output(self, name: str, text: bytes) -> None:
        """Write the end of what a driver on a cluster said so far."""
        self.fs.replace(self.root.child(_OUTPUT.format(name=name)), text)

    def read_output(self, name: str) -> bytes:
        """Read what a driver on a cluster said last; empty where it kept nothing."""
        try:
            return self.fs.read(self.root.child(_OUTPUT.format(name=name)))
        except NotVisible:
            return b""

    def write_environment(self, environment: Mapping[str, str]) -> None:
        """Write the passwords of a driver on a cluster: 0600, until the driver has read them."""
        self._write(_ENVIRONMENT, environment)

    def take_environment(self) -> dict[str, str]:
        """Read what was written for this driver and remove it; empty where nothing was."""
        found = self._read_or_none(_ENVIRONMENT) or {}
        self.forget_environment()
        return {str(name): str(value) for name, value in found.items()}

    def forget_environment(self) -> None:
        """Remove what was written for a driver; twice is no error."""
        with contextlib.suppress(NotVisible):
            self.fs.remove_file(self.root.child(_ENVIRONMENT))

    def remove_uploads(self) -> None:
        """Remove what spark-submit uploaded, file by file; no link is followed, twice is safe."""
        if self.fs.status(self.uploads) is None:
            return
        for status in reversed(list(self.fs.walk(self.uploads))):
            if status.is_dir:
                self.fs.remove_empty_directory(status.path)
            else:
                self.fs.remove_file(status.path)

    def write_part(self, name: str, data: Mapping[str, Any]) -> None:
        """Write a file that the control file names; the same name always has the same content."""
        self._write(name, data)

    def read_part(self, name: str) -> dict[str, Any]:
        """Read a file that the control file named."""
        return self._read(name)

    def _write(self, name: str, data: Mapping[str, Any]) -> None:
        path, content = self.root.child(name), _dump(data)
        _insist(lambda: self.fs.replace(path, content))

    def _read(self, name: str) -> dict[str, Any]:
        text = self.fs.read(self.root.child(name))
        try:
            return dict(json.loads(text))
        except (ValueError, TypeError) as error:
            raise ExternalFailure(
                "spool.unreadable",
                f"{self.root.child(name)} is no JSON object; the run must be started again.",
                service="spool",
                retryable=False,
            ) from error

    def _read_or_none(self, name: str) -> dict[str, Any] | None:
        try:
            return self._read(name)
        except NotVisible:
            return None


def _insist(write: Callable[[], object]) -> None:
    """Write a file; again where nothing answered, or what a run did would be lost.

    Writing the same again changes nothing.
    """
    for _ in range(_MORE_TRIES):
        try:
            write()
        except ExternalFailure as error:
            if error.code != FAILED:
                raise
        else:
            return
    write()


def _dump(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, sort_keys=True, ensure_ascii=False, indent=1).encode("utf-8")
