"""Decides which manifests merge, into how many, and which partitions share each of them.

A reader opens every manifest that its filter does not rule out. Few manifests are fewer openings,
and files of neighbouring partitions in one manifest let a filter rule out the others. Manifests of
about the target size stay as they are: to write them again would win nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from optimizer.iceberg.inspect.domain.stats import SMALL_BELOW

LEAST_GAIN = 2  # so many times fewer manifests at least, or they are left alone


@dataclass(frozen=True, slots=True)
class Manifest:
    """One manifest of a snapshot; `n` is its place in the list that it was read from."""

    n: int
    spec_id: int
    is_deletes: bool
    n_bytes: int
    n_live: int


@dataclass(frozen=True, slots=True)
class Merge:
    """Manifests of one spec and content that are rewritten together."""

    spec_id: int
    is_deletes: bool
    places: tuple[int, ...]
    n_out: int


def merges(manifests: Iterable[Manifest], *, target_bytes: int) -> list[Merge]:
    """Return what is worth merging; manifests of two specs, or of data and deletes, never mix."""
    kinds: dict[tuple[int, bool], list[Manifest]] = {}
    for one in manifests:
        if one.n_bytes < SMALL_BELOW * target_bytes or not one.n_live:
            kinds.setdefault((one.spec_id, one.is_deletes), []).append(one)
    found = []
    for (spec_id, is_deletes), small in sorted(kinds.items()):
        n_bytes = sum(one.n_bytes for one in small if one.n_live)
        n_out = -(-n_bytes // target_bytes)
        if len(small) >= 2 and n_out * LEAST_GAIN <= len(small):
            found.append(Merge(spec_id, is_deletes, tuple(one.n for one in small), n_out))
    return found


def neighbours(n_files: Mapping[str, int], n_out: int) -> dict[str, int]:
    """Cut partitions, in the order of their paths, into parts of about as many files each."""
    total = sum(n_files.values())
    held = 0
    parts = {}
    for path in sorted(n_files):
        parts[path] = min(n_out - 1, held * n_out // total) if total else 0
        held += n_files[path]
    return parts


def no_work_reason(n_manifests: int, *, target_bytes: int) -> str:
    """Say why none is merged."""
    return (
        f"Nothing to merge: its {n_manifests} manifests are about {target_bytes:,} bytes long "
        "(commit.manifest.target-size-bytes), or too few of one partition spec to become half."
    )
