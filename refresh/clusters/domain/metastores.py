"""Finds the lake whose metastore a cluster reads, by the addresses that it gives."""

from collections.abc import Iterable, Mapping

from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId

_DEFAULT_PORT = "9083"


def lake_of(uris: str, lakes: Mapping[LakeId, Iterable[str]]) -> LakeId | None:
    """Find the lake whose metastore one of the `thrift://host:port` addresses names.

    None if no lake has any of them. RuleViolation `cluster.metastores` if two have: the portal
    would not know whose events count.
    """
    asked = addresses([uris])
    found = [lake for lake, known in lakes.items() if asked & addresses(known)]
    if len(found) > 1:
        raise RuleViolation(
            "cluster.metastores",
            f"{uris} names the metastores of more than one lake ({', '.join(map(str, found))}). "
            "Give each lake its own addresses.",
            uris=uris,
        )
    return found[0] if found else None


def addresses(uris: Iterable[str]) -> frozenset[str]:
    """Return the `host:port` of every address in a list, itself of comma separated ones."""
    found = set()
    for uri in ",".join(uris).split(","):
        place = uri.strip().rpartition("://")[2].rstrip("/").lower()
        if place:
            found.add(place if ":" in place else f"{place}:{_DEFAULT_PORT}")
    return frozenset(found)
