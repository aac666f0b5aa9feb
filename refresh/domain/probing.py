"""What does a probe show of one front end's picture, and does it differ from the metastore's?

A probe can only disprove: equal numbers may be luck, and the probe itself loads what was not
cached. `partitions=a/b` holds in b how many names the front end knows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

_PARTITIONS = re.compile(r"\bpartitions=(\d+)/(\d+)")
_CARDINALITY = re.compile(r"\bcardinality: (-?\d+)")
_DDL_TIME = re.compile(r'"?transient_lastDdlTime"?\s*=\s*"(\d+)"')
_LOCATION = re.compile(r'(?:"location"\s*=\s*|LOCATION\s+)"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Picture:
    """What a front end believes of a table; None where it does not say."""

    n_partitions: int | None = None
    cardinality: int | None = None
    ddl_time: int | None = None
    location: str | None = None


def read_costs(text: str) -> Picture:
    """Read EXPLAIN COSTS of a plain scan of one table."""
    partitions, cardinality = _PARTITIONS.search(text), _CARDINALITY.search(text)
    return Picture(
        n_partitions=int(partitions[2]) if partitions else None,
        cardinality=int(cardinality[1]) if cardinality else None,
    )


def read_ddl(text: str) -> Picture:
    """Read SHOW CREATE TABLE of a table in a catalog."""
    ddl_time, location = _DDL_TIME.search(text), _LOCATION.search(text)
    return Picture(
        ddl_time=int(ddl_time[1]) if ddl_time else None,
        location=location[1].rstrip("/") if location else None,
    )


def both(costs: Picture, ddl: Picture) -> Picture:
    """Put the answers to both questions together."""
    return replace(costs, ddl_time=ddl.ddl_time, location=ddl.location)


def disproofs(pictures: Mapping[str, Picture], truth: Picture) -> dict[str, str]:
    """Say of each front end that cannot be right why, in words.

    Who contradicts the metastore is wrong alone. Where the others expect different numbers of rows
    nobody knows who is right, so none of them is believed.
    """
    found = {
        name: "; ".join(said)
        for name, picture in pictures.items()
        if (said := differences(picture, truth))
    }
    rows = {
        name: picture.cardinality
        for name, picture in sorted(pictures.items())
        if name not in found and picture.cardinality is not None
    }
    if len(set(rows.values())) > 1:
        said_by_each = ", ".join(f"{name} {count}" for name, count in rows.items())
        words = f"the front ends expect different numbers of rows ({said_by_each})"
        found |= dict.fromkeys(rows, words)
    return found


def differences(believed: Picture, truth: Picture) -> tuple[str, ...]:
    """Say where a picture contradicts the truth; what either does not say contradicts nothing."""
    pairs = (
        ("partitions", believed.n_partitions, truth.n_partitions),
        ("rows by its estimate", believed.cardinality, truth.cardinality),
        ("last DDL time", believed.ddl_time, truth.ddl_time),
        ("location", believed.location, truth.location),
    )
    return tuple(
        f"{what}: it has {here}, should be {there}"
        for what, here, there in pairs
        if here is not None and there is not None and here != there
    )
