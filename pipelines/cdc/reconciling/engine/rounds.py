"""Compares a table in rounds: all of it, then the keys that changed meanwhile, a few times."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pipelines.cdc.reconciling.domain.verdicts import DIFFERENCES, Pair, Verdict, judge

MOST_KEYS = 10_000
"""Of how many differing keys a proof keeps the keys; it counts all of them."""
MOST_AGAIN = 200_000
"""How many keys are read again; of a table that changes faster the rest stays undecided."""


class Sides(Protocol):
    """A table at its source and in the lake."""

    def read(self, keys: Sequence[str] | None) -> None:
        """Read rows of the source: all, or those of some keys."""

    def wait(self) -> None:
        """Wait until the lake has everything that the source had when `read` returned."""

    def differing(self) -> Iterator[Pair]:
        """Read the lake, then yield the keys that are not the same on both sides."""

    def end(self) -> int:
        """Return the version of where the source's log ends now."""


@dataclass
class Outcome:
    """What a comparison came to."""

    n_rounds: int = 0
    counts: Counter[Verdict] = field(default_factory=Counter)
    keys: list[tuple[Verdict, str]] = field(default_factory=list)
    """Differing keys, not more than a proof keeps."""
    n_left: int = 0
    """Keys that changed and were too many to be read again."""

    @property
    def n_differences(self) -> int:
        """How many rows differ."""
        return sum(self.counts[one] for one in DIFFERENCES)


def compare(sides: Sides, *, most_rounds: int) -> Outcome:
    """Compare both sides; keys that changed in every round are counted as changed."""
    outcome, keys = Outcome(), None
    while outcome.n_rounds < most_rounds:
        outcome.n_rounds += 1
        sides.read(keys)
        sides.wait()
        found = sides.differing()
        keys = _judged(found, sides.end(), outcome)
        if not keys:
            break
    return outcome


def _judged(found: Iterator[Pair], end: int, outcome: Outcome) -> list[str]:
    """Count what is decided; returns the keys to read again."""
    again: list[str] = []
    # Those of the round before were read again, but for the ones that were too many.
    outcome.counts[Verdict.CHANGED] = outcome.n_left
    for pair in found:
        verdict = judge(pair, end=end)
        if verdict is Verdict.EQUAL:
            continue
        outcome.counts[verdict] += 1
        if verdict is Verdict.CHANGED:
            if len(again) < MOST_AGAIN:
                again.append(pair.id)
            else:
                outcome.n_left += 1
        elif verdict in DIFFERENCES and len(outcome.keys) < MOST_KEYS:
            outcome.keys.append((verdict, pair.id))
    return again
