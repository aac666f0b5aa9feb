"""Decides who changed something last, and which reports only repeat a change of the portal's own.

The authors of the last changes are requesters of a plan (`lifecycle.planning.services.parties`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lifecycle.policies.domain.policy import Values

# The portal writes and records within one run; the metastore's note of it bears the same minute.
ECHO_WITHIN = timedelta(minutes=10)
NOBODY = frozenset({"", "system", "lakewarden", "unknown"})

Subject = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a subject; `order` decides between changes of one moment."""

    subject: Subject
    actor: str
    at: datetime
    order: int = 0


def last_changers(changes: Iterable[Change]) -> frozenset[str]:
    """Return the author of the newest change of each subject.

    A change without a known author does not hide the last one that has an author.
    """
    newest: dict[Subject, Change] = {}
    for change in changes:
        known = newest.get(change.subject)
        is_newer = known is None or (known.at, known.order) <= (change.at, change.order)
        if change.actor not in NOBODY and is_newer:
            newest[change.subject] = change
    return frozenset(change.actor for change in newest.values())


@dataclass(frozen=True, slots=True)
class Report:
    """One record of a change of LEVEL and TTL: the portal's own, or a note of the metastore."""

    subject: str
    before: Values | None
    after: Values | None
    at: datetime
    is_own: bool


def changed_fields(before: Values | None, after: Values | None) -> tuple[str, ...]:
    """Return which of LEVEL and TTL a change set; both where that is not known."""
    if before is None or after is None or before == after:
        return ("level", "ttl")
    return tuple(name for name in ("level", "ttl") if getattr(before, name) != getattr(after, name))


def echoes(reports: Sequence[Report]) -> frozenset[int]:
    """Return the positions of the notes that repeat one change of the portal's own.

    A note repeats at most one such change and a change is repeated at most once: same subject,
    same values, at most `ECHO_WITHIN` apart. Nearest pairs are matched first, so that a change
    which somebody makes at the metastore is not taken for the echo of another.
    """
    own: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for position, one in enumerate(reports):
        if one.is_own and one.after is not None:
            own[one.subject, one.before, one.after].append(position)
    pairs = sorted(
        (abs(one.at - reports[other].at), position, other)
        for position, one in enumerate(reports)
        if not one.is_own
        for other in own.get((one.subject, one.before, one.after), ())
        if abs(one.at - reports[other].at) <= ECHO_WITHIN
    )
    matched: set[int] = set()
    repeated: set[int] = set()
    for _, position, other in pairs:
        if position not in matched and other not in repeated:
            matched.add(position)
            repeated.add(other)
    return frozenset(matched)
