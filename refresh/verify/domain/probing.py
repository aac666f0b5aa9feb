"""Compares a front end's view of a table, as a probe shows it, with the metastore's.

A probe can only disprove: equal numbers may be luck. `partitions=a/b` holds in b how many names the
front end knows. Its rows of a whole table say nothing: they are the mean of the partitions whose
files it happens to have cached, so two front ends that are both right differ. Rows are compared
partition by partition, and only among front ends that have the partition cached.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from portal.lake.errors import RuleViolation
from portal.lake.names import PartitionName
from refresh.core.domain.names import literal

_PARTITIONS = re.compile(r"\bpartitions=(\d+)/(\d+)")
_CARDINALITY = re.compile(r"\bcardinality: (-?\d+)")
_DDL_TIME = re.compile(r'"?transient_lastDdlTime"?\s*=\s*"(\d+)"')
_LOCATION = re.compile(r'(?:"location"\s*=\s*|LOCATION\s+)"([^"]*)"')


# What a plan expects of partitions none of which is cached.
_NOT_CACHED = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """What a front end believes of a table; None where it does not say.

    `rows` holds the estimate of each probed partition whose files it has cached; an unpartitioned
    table has one, named "".
    """

    n_partitions: int | None = None
    ddl_time: int | None = None
    location: str | None = None
    rows: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Costs:
    """What a plan says: partitions it selects, partitions it knows, rows it expects."""

    n_selected: int | None = None
    n_partitions: int | None = None
    cardinality: int | None = None

    @property
    def cached_rows(self) -> int | None:
        """The rows of the one partition that was asked for; None where its files are not cached."""
        is_cached = self.cardinality is not None and self.cardinality > _NOT_CACHED
        return self.cardinality if self.n_selected == 1 and is_cached else None


def read_costs(text: str) -> Costs:
    """Read EXPLAIN COSTS of a plain scan of one table."""
    partitions, cardinality = _PARTITIONS.search(text), _CARDINALITY.search(text)
    return Costs(
        n_selected=int(partitions[1]) if partitions else None,
        n_partitions=int(partitions[2]) if partitions else None,
        cardinality=int(cardinality[1]) if cardinality else None,
    )


def picture_of(costs: Mapping[str, Costs]) -> Picture:
    """Put the plans of single partitions together; the fewest names that one of them knew count."""
    known = [one.n_partitions for one in costs.values() if one.n_partitions is not None]
    rows = {name: one.cached_rows for name, one in costs.items()}
    return Picture(
        n_partitions=min(known, default=None),
        rows={name: n for name, n in rows.items() if n is not None},
    )


def can_be_probed(name: str) -> bool:
    """Whether a partition can be selected by equalities: NULL equals nothing, some text cannot go.

    What an equality selects is checked in the plan's answer, so a wrong guess says nothing.
    """
    try:
        parsed = PartitionName.parse(name)
        for value in parsed.metastore_values:
            literal(value)
    except RuleViolation:
        return False
    return None not in parsed.values


def selection(name: str) -> Sequence[tuple[str, str]]:
    """Return the equalities that select one partition of `can_be_probed`."""
    parsed = PartitionName.parse(name)
    return tuple(zip(parsed.keys, parsed.metastore_values, strict=True))


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


def _differing(pictures: Mapping[str, Picture]) -> dict[str, dict[str, int]]:
    """Return by partition what each front end that has it cached expects, where they differ."""
    found: dict[str, dict[str, int]] = {}
    for fe, picture in sorted(pictures.items()):
        for name, n in picture.rows.items():
            found.setdefault(name, {})[fe] = n
    return {name: rows for name, rows in sorted(found.items()) if len(set(rows.values())) > 1}


def disproofs(pictures: Mapping[str, Picture], truth: Picture) -> dict[str, str]:
    """Say of each front end that cannot be right why, in words.

    Who contradicts the metastore is wrong alone. Where the others expect different numbers of rows
    of a partition that they have cached nobody knows who is right, so none of those is believed.
    Who has it not cached says nothing of it and is not wrong.
    """
    found = {
        name: "; ".join(said)
        for name, picture in pictures.items()
        if (said := differences(picture, truth))
    }
    differing = _differing({fe: one for fe, one in pictures.items() if fe not in found})
    doubted = dict.fromkeys(fe for rows in differing.values() for fe in rows)
    for fe in doubted:
        names = [name for name, rows in differing.items() if fe in rows]
        said_by_each = ", ".join(f"{one} {n}" for one, n in differing[names[0]].items())
        more = f" and of {len(names) - 1} more" if len(names) > 1 else ""
        found[fe] = (
            "the front ends expect different numbers of rows of "
            f"{names[0] or 'the table'} ({said_by_each}){more}"
        )
    return found


def differences(believed: Picture, truth: Picture) -> tuple[str, ...]:
    """Say where a picture contradicts the truth; what either does not say contradicts nothing."""
    pairs = (
        ("partitions", believed.n_partitions, truth.n_partitions),
        ("last DDL time", believed.ddl_time, truth.ddl_time),
        ("location", believed.location, truth.location),
    )
    return tuple(
        f"{what}: it has {here}, should be {there}"
        for what, here, there in pairs
        if here is not None and there is not None and here != there
    )
