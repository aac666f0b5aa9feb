"""Expands a partial partition name, such as `dt=2026-11-21`, to the partitions it means.

What acts on partitions takes full names only, exactly as the metastore writes them, and some of it
fails whole when one of them is missing there. So every name given out is of the metastore's list.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from portal.lake.errors import RuleViolation
from portal.lake.names import PartitionName

Values = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Expanded:
    """The names meant, in the metastore's order and spelling, and what stands for none of them."""

    names: tuple[str, ...]
    unmatched: tuple[str, ...]


def read_spec(text: str, *, keys: Sequence[str]) -> dict[str, str | None]:
    """Read a full or partial name, its keys in any order and case.

    Raises:
        RuleViolation: it is no partition name, or names a key twice or one the table has not.
    """
    name = PartitionName.parse(text)
    known = {key.lower(): key for key in keys}
    spec: dict[str, str | None] = {}
    for key, value in zip(name.keys, name.values, strict=True):
        if key.lower() not in known:
            raise RuleViolation(
                "partition.key",
                f"The table is not partitioned by {key!r}. Its keys are: {', '.join(keys)}.",
                partition=text,
            )
        if known[key.lower()] in spec:
            raise RuleViolation(
                "partition.twice", f"{text!r} names the key {key!r} twice.", partition=text
            )
        spec[known[key.lower()]] = value
    return spec


def expand(specs: Iterable[str], *, keys: Sequence[str], names: Iterable[str]) -> Expanded:
    """Find the metastore's names for which at least one of the specs stands.

    Costs one look at each name per set of keys that occurs in the specs, however many specs there
    are. A name of the list that cannot be read is meant by nobody.

    Raises:
        RuleViolation: see `read_spec`; also when the table has no partitions to name.
    """
    wanted: dict[tuple[str, ...], dict[Values, list[str]]] = {}
    for text in specs:
        if not keys:
            raise RuleViolation(
                "partition.unpartitioned",
                f"The table is not partitioned, so it has no {text!r}. Name the table only.",
                partition=text,
            )
        spec = read_spec(text, keys=keys)
        named = tuple(key for key in keys if key in spec)
        wanted.setdefault(named, {}).setdefault(tuple(spec[key] for key in named), []).append(text)
    matched: set[str] = set()
    found = [name for name in names if _is_meant(name, wanted, matched)]
    every = [text for group in wanted.values() for texts in group.values() for text in texts]
    return Expanded(tuple(found), tuple(text for text in every if text not in matched))


def full_names(specs: Iterable[str], *, keys: Sequence[str]) -> tuple[str, ...]:
    """Return those that name every key, as the metastore would write them, each once."""
    found: dict[str, None] = {}
    for text in specs:
        spec = read_spec(text, keys=keys)
        if len(spec) == len(keys):
            found[str(PartitionName(tuple(keys), tuple(spec[key] for key in keys)))] = None
    return tuple(found)


def _is_meant(
    name: str, wanted: dict[tuple[str, ...], dict[Values, list[str]]], matched: set[str]
) -> bool:
    try:
        leaf = PartitionName.parse(name)
    except RuleViolation:
        return False
    values = {key.lower(): value for key, value in zip(leaf.keys, leaf.values, strict=True)}
    is_meant = False
    for named, group in wanted.items():
        if not all(key.lower() in values for key in named):
            continue
        texts = group.get(tuple(values[key.lower()] for key in named))
        if texts:
            is_meant = True
            matched.update(texts)
    return is_meant
