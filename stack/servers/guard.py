"""The guard in the stack's metastore: how it is installed, and how tests switch it while it runs.

The metastore reads the guard's own file again whenever it changes, so no restart is needed.
"""

import getpass
from pathlib import Path

from stack.places import JARS

JAR = JARS / "jvm" / "metastore-guard.jar"
# As whom the metastore knows the portal: this program's user, or the one that lakes.json names.
SERVICE_USERS = (getpass.getuser(), "lakewarden")
_PREFIX = "hive.lifecycle."
_LISTENERS = (
    "lakewarden.guard.GuardRecorder",  # first: its note stands before the change's own event
    "org.apache.hive.hcatalog.listener.DbNotificationListener",
)


class Guard:
    """The guard's settings on one lake: audit, so that a demo refuses nothing."""

    def __init__(self, file: Path, *, owner_place: str) -> None:
        self.file = file
        self._owner_place = owner_place

    def properties(self) -> dict[str, str]:
        """Return what stands in the metastore's configuration."""
        return {
            "metastore.pre.event.listeners": "lakewarden.guard.LifecycleGuard",
            "metastore.transactional.event.listeners": ",".join(_LISTENERS),
            f"{_PREFIX}admins": ",".join(SERVICE_USERS),
            f"{_PREFIX}default.level": "1",
            f"{_PREFIX}default.ttl": "60",
            f"{_PREFIX}guard.mode": "audit",
            f"{_PREFIX}guard.paths": "warn",
            f"{_PREFIX}guard.path.owner": self._owner_place,
            f"{_PREFIX}guard.file": str(self.file),
        }

    def switch(self, settings: dict[str, str]) -> None:
        """Set properties from now on (`guard.mode`, `admins`, ...); an empty dict undoes all."""
        text = "".join(f"{_PREFIX}{name}={value}\n" for name, value in settings.items())
        fresh = self.file.with_suffix(".new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(self.file)
