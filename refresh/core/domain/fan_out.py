"""Outcome of one refresh on each front end. The one that took it names those that failed.

It refreshes itself first; if that fails nobody else is asked. Then it asks every registered one of
another host, and error 5074 names who failed. That is a partial success, nothing is rolled back.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from refresh.clusters.domain.frontends import FrontEnd

PARTIAL = 5074
_PREFIX = "refresh external table failed"
_PIECE = re.compile(r"refresh fe (\S+) failed:")


class Outcome(StrEnum):
    """What is known of a refresh on one front end."""

    DONE = "DONE"
    FAILED = "FAILED"
    NOT_ASKED = "NOT_ASKED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class FeOutcome:
    """The outcome on one front end, and its own words where it failed."""

    outcome: Outcome
    why: str = ""


def read_failures(text: str) -> dict[str, str]:
    """Return the words of failure by host; empty if the text names nobody.

    A host that is named inside another one's words counts as failed too: rather once too often
    called stale than once fresh.
    """
    pieces = list(_PIECE.finditer(text))
    found: dict[str, str] = {}
    for number, piece in enumerate(pieces):
        end = pieces[number + 1].start() if number + 1 < len(pieces) else len(text)
        found.setdefault(piece[1], text[piece.end() : end].strip().removesuffix(";"))
    return found


def outcomes(
    text: str | None, *, coordinator: FrontEnd, every: Sequence[FrontEnd]
) -> Mapping[str, FeOutcome]:
    """Say by name what a refresh came to that `taker` answered with OK (None) or with 5074.

    Front ends on the taker's host are skipped by it. Of several on another host one answer is
    kept, so nothing is known of them, unless that one failed.
    """
    failures = read_failures(text) if text is not None else {}
    is_readable = text is None or (_PREFIX in text.lower() and bool(failures))
    n_on_host = Counter(fe.host for fe in every)
    return {
        fe.name: FeOutcome(Outcome.UNKNOWN, text or "")
        if not is_readable
        else _outcome(fe, coordinator=coordinator, failures=failures, n_on_host=n_on_host[fe.host])
        for fe in every
    }


def _outcome(
    fe: FrontEnd, *, coordinator: FrontEnd, failures: Mapping[str, str], n_on_host: int
) -> FeOutcome:
    if fe.name == coordinator.name:
        return FeOutcome(Outcome.DONE)
    if fe.host == coordinator.host:
        return FeOutcome(Outcome.NOT_ASKED, "It shares its host with the one that took it.")
    if fe.host in failures:
        return FeOutcome(Outcome.FAILED, failures[fe.host])
    if n_on_host > 1:
        return FeOutcome(Outcome.UNKNOWN, "It shares its host with another front end.")
    return FeOutcome(Outcome.DONE)
