"""Addresses of front ends that people may name without being an admin. Pure.

An entry is a host (`fe1.example.org`), a domain (`*.example.org`) or a network (`10.4.0.0/16`),
followed by `:port` or `:*`; without one it is the query port 9030. Networks match addresses written
as numbers only: a name is never looked up here, because its answer may change afterwards.
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from portal.lake.errors import RuleViolation
from refresh.clusters.domain.addresses import Place

_ANY = "*"
_PORT = "9030"
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class _Entry:
    host: str
    network: _Network | None
    port: str

    def holds(self, place: Place) -> bool:
        if self.port not in (_ANY, str(place.port)):
            return False
        if self.network is not None:
            address = _address(place.host)
            return address is not None and address in self.network
        host = place.host.lower().rstrip(".")
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return host == self.host


@dataclass(frozen=True, slots=True)
class AllowedPlaces:
    """The addresses of a setting."""

    entries: tuple[_Entry, ...] = ()

    @classmethod
    def read(cls, texts: Iterable[str]) -> "AllowedPlaces":
        """Read the entries.

        Raises:
            RuleViolation: `cluster.allowed`, one of them is none.
        """
        return cls(tuple(_read(text.strip()) for text in texts if text.strip()))

    def holds(self, place: Place) -> bool:
        """Whether one entry holds the address."""
        return any(entry.holds(place) for entry in self.entries)


def _read(text: str) -> _Entry:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]") or "/" in port:
        host, port = text, _PORT
    host = host.strip("[]") if host.startswith("[") else host
    if port != _ANY and not (port.isascii() and port.isdigit()):
        raise _refused(text)
    if "/" in host or _address(host) is not None:
        try:
            return _Entry("", ipaddress.ip_network(host.replace("[", "").replace("]", "")), port)
        except ValueError as error:
            raise _refused(text) from error
    plain = host.lower().rstrip(".")
    if _ANY in plain.removeprefix("*.") or not plain.removeprefix("*."):
        raise _refused(text)
    return _Entry(plain, None, port)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = getattr(found, "ipv4_mapped", None)
    return mapped or found


def _refused(text: str) -> RuleViolation:
    return RuleViolation(
        "cluster.allowed",
        f"{text[:100]!r} in LAKEWARDEN_CLUSTER_ADDRESSES is no host, *.domain or network, with "
        "or without :port.",
    )
