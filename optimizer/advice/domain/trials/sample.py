"""Picks the partitions of a trial: the largest, the newest and one by chance, within a limit."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

MOST_BYTES = 10 << 30
"""Of the files that one trial writes again."""
MOST_QUERIES = 400
"""That one trial replays; each is planned twice."""
LEAST_FILES = 2
"""A single file lies in no other order among files."""
_SEED = "20261127"
LARGEST, NEWEST, BY_CHANCE, IN_PART = "largest", "newest", "by chance", "part of the smallest"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A partition: its files' bytes, and the sequence number of its newest commit."""

    name: str
    n_bytes: int
    n_files: int
    newest: int


@dataclass(frozen=True, slots=True)
class Picked:
    """A partition of the trial and why it is in it; `share` of its files are taken."""

    name: str
    reason: str
    share: float = 1.0


def pick_partitions(
    candidates: Sequence[Candidate], *, most_bytes: int = MOST_BYTES
) -> list[Picked]:
    """Return up to three partitions whose files fit into the limit together.

    Where none fits alone, a share of the smallest stands for it. The same candidates give the same.
    """
    known = sorted((one for one in candidates if one.n_files), key=lambda one: one.name)
    fitting = [one for one in known if one.n_bytes <= most_bytes]
    if not fitting:
        if not known:
            return []
        least = min(known, key=lambda one: one.n_bytes)
        return [Picked(least.name, IN_PART, most_bytes / least.n_bytes)]
    left, picked = most_bytes, dict[str, Picked]()
    rest = sorted(fitting, key=lambda one: sha256(f"{_SEED}{one.name}".encode()).digest())
    lines = (
        (LARGEST, sorted(fitting, key=lambda one: -one.n_bytes)[:1]),
        (NEWEST, sorted(fitting, key=lambda one: -one.newest)[:1]),
        (BY_CHANCE, rest),
    )
    for reason, line in lines:
        chosen = next((one for one in line if one.name not in picked and one.n_bytes <= left), None)
        if chosen is not None:
            picked[chosen.name] = Picked(chosen.name, reason)
            left -= chosen.n_bytes
    return list(picked.values())


def spread(n_files: int, *, share: float) -> list[int]:
    """Return the places of so large a share of files, evenly spread; two at least."""
    n_taken = min(n_files, max(LEAST_FILES, int(n_files * share)))
    return [number * n_files // n_taken for number in range(n_taken)] if n_taken else []
