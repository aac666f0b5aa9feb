"""Limits where the portal may log in on behalf of a person, and with which password files.

A log-in sends the hash of the file's password to whatever answers at the address. So password files
come from one directory, and people who are not admins name addresses of the allowed set. What lies
outside is refused unasked, in the same words whether or not a file or a listener is there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from portal.lake.errors import NotAllowed
from refresh.clusters.connectors import read_password
from refresh.clusters.domain.addresses import Place
from refresh.clusters.domain.allowed_addresses import AllowedPlaces


@dataclass(frozen=True, slots=True)
class Reach:
    """The addresses that somebody may have the portal log in to."""

    anywhere: bool = False
    known: frozenset[Place] = frozenset()
    """The addresses that the cluster has already; whoever kept them was allowed to."""

    def outside(self, places: Iterable[Place]) -> list[Place]:
        """Return the addresses that are not allowed."""
        if self.anywhere:
            return []
        allowed = AllowedPlaces.read(settings.LAKEWARDEN_CLUSTER_ADDRESSES)
        return [place for place in places if place not in self.known and not allowed.holds(place)]

    def check(self, places: Iterable[Place]) -> None:
        """Refuse addresses that are not allowed.

        Raises:
            NotAllowed: `cluster.address_not_allowed`; nothing was asked there.
        """
        outside = self.outside(places)
        if outside:
            raise NotAllowed("cluster.address_not_allowed", not_allowed(outside))


ANYWHERE = Reach(anywhere=True)


def not_allowed(places: Iterable[Place]) -> str:
    """Return in words that addresses are not allowed, and who may use them."""
    return (
        f"{', '.join(map(str, places))}: not among the addresses that operators may use here "
        "(LAKEWARDEN_CLUSTER_ADDRESSES), so nothing was asked there. An admin may within 15 "
        "minutes of a log-in; an admin logs in again at /login/again/ and repeats it."
    )


def cluster_password(path: str) -> str:
    """Read the password of a cluster from its file below LAKEWARDEN_PASSWORD_DIR.

    Raises:
        RuleViolation: the file lies elsewhere, or is not as it must be.
        ExternalFailure: it is not there, or may not be read.
    """
    return read_password(path, below=Path(settings.LAKEWARDEN_PASSWORD_DIR))
