"""An application as its cluster knows it, and what each cluster can be asked."""

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Protocol

KILL_WAIT_SECONDS = 20.0
"""How long a cluster is waited for when it was asked to end an application."""


@dataclass(frozen=True, slots=True)
class Application:
    """An application on YARN, or the pod of a driver on Kubernetes."""

    id: str
    state: str
    is_final: bool
    """Whether the cluster starts nothing more of it; a process on a lost node may yet be there."""
    place: str
    """Where it was submitted to, in words: a queue, or a namespace."""
    queue: str
    diagnostics: str
    waits_for: str = ""
    """Why its driver has not started, in words; empty once it has."""
    waited: timedelta = timedelta()
    """Since it was submitted, by the cluster's clock."""
    logs: str = ""
    """Where its driver's output is; empty while there is none."""


class Cluster(Protocol):
    """A master that runs drivers and can be asked for them."""

    name: ClassVar[str]

    def tagged(self, tag: str) -> list[Application]:
        """Return the applications that were submitted with a tag, the newest last."""

    def kill(self, application: str) -> None:
        """End an application; one that has ended is no error."""

    def driver_log(self, application: Application, name: str, *, n_bytes: int) -> bytes:
        """Return the end of what the driver wrote; empty where the cluster has it no more."""
