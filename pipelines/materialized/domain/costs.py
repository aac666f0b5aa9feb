"""Estimates the seconds of a refresh by changes and in full, from what earlier refreshes took.

Each way has costs of its own before it reads a row, and costs by the bytes that it reads: in full
those of the tables, by changes those of the files or images with changed rows, which are put
together by value and then merged into the groups. What a machine, a format and a definition make of
that is learnt from the refreshes before: a way's estimate is scaled by what its runs of about the
same size took.
"""

from collections.abc import Iterable
from statistics import median

import msgspec

FULL_SECONDS, FULL_SECONDS_PER_MIB = 1.8, 0.004
CHANGES_SECONDS, CHANGES_SECONDS_PER_MIB = 2.7, 0.06
"""Of two cores and tables of 57 and 227 MiB (`bench/README.md`), until there are runs to learn
from. In full only the columns of the definition are read, by changes the rows whole."""
_NEAREST = 5
_MIB = 1 << 20


class Past(msgspec.Struct, frozen=True):
    """What one earlier refresh read and took."""

    is_full: bool
    seconds: float
    changed_bytes: int = 0
    all_bytes: int = 0


class Estimate(msgspec.Struct, frozen=True):
    """The seconds that a refresh takes by each way."""

    by_changes: float
    in_full: float
    n_known: int = 0
    """Of how many earlier refreshes it has learnt."""

    @property
    def is_full_cheaper(self) -> bool:
        """Whether computing in full takes less."""
        return self.in_full < self.by_changes


def estimate(changed_bytes: int, all_bytes: int, past: Iterable[Past]) -> Estimate:
    """Estimate both ways. One that has not been taken yet is scaled as the other one is."""
    known = [one for one in past if one.seconds > 0]
    full = [one for one in known if one.is_full]
    by_changes = [one for one in known if not one.is_full]
    asked = [Past(is_full, 0, changed_bytes, all_bytes) for is_full in (False, True)]
    return Estimate(
        _scaled(asked[0], by_changes or full), _scaled(asked[1], full or by_changes), len(known)
    )


def _scaled(asked: Past, past: Iterable[Past]) -> float:
    wanted = _usual(asked)
    nearest = sorted(past, key=lambda one: max(_usual(one) / wanted, wanted / _usual(one)))
    ratios = [one.seconds / _usual(one) for one in nearest[:_NEAREST]]
    return wanted * median(ratios or [1.0])


def _usual(one: Past) -> float:
    if one.is_full:
        return FULL_SECONDS + FULL_SECONDS_PER_MIB * one.all_bytes / _MIB
    return CHANGES_SECONDS + CHANGES_SECONDS_PER_MIB * one.changed_bytes / _MIB
