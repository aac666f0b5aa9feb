"""Findings on Hudi tables: what is wrong, how severe, the evidence, and the remedy.

Evidence is kept as rows of plain JSON, at most `MOST_ROWS` of them, with the number that there are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from optimizer.hudi.inspect.domain.facts import plain
from optimizer.hudi.maintenance.domain.services import Ruling
from optimizer.hudi.maintenance.domain.tasks import Service, Step

MOST_ROWS = 50
MEND_FIRST = (
    "Every pending plan takes a file group that is damaged, and executing it would make the damage "
    "last: repair that first, and hold the table's services until then."
)


class Severity(StrEnum):
    """How bad it is."""

    INFO = "INFO"  # worth knowing; nothing has to be done
    WARNING = "WARNING"  # it gets worse by itself
    CRITICAL = "CRITICAL"  # rows are wrong, lost or late now, and nobody will repair it


class Code(StrEnum):
    """What can be wrong, in the order in which it is told."""

    CORRUPT_BLOCKS = "corrupt-blocks"
    LOST_BASE = "lost-base"
    UNKNOWN_BLOCKS = "unknown-blocks"
    DUPLICATE_KEYS = "duplicate-keys"
    STUCK = "stuck"
    STALE_VIEW = "stale-view"
    NEVER_EXECUTED = "never-executed"
    PLANS_PILE_UP = "plans-pile-up"


@dataclass(frozen=True, slots=True)
class RecoveryAction:
    """What helps: a step of a service on some instants, or something that only people can do.

    `refused` says why the service may not do it, None where it may. `holds` asks that every
    service of the table be stopped first: each could make the damage last.
    """

    words: str
    service: Service | None = None
    step: Step | None = None
    instants: tuple[str, ...] = ()
    needs_approval: bool = False
    refused: str | None = None
    holds: bool = False

    @property
    def can_be_clicked(self) -> bool:
        """Whether the portal can do it: one click begins it, or asks for its approval."""
        return self.refused is None and (self.service is not None or self.holds)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    code: Code
    severity: Severity
    words: str
    evidence: tuple[Mapping[str, Any], ...]
    n_evidence: int
    remedy: RecoveryAction | None = None
    also: RecoveryAction | None = None  # what helps besides

    def as_dict(self) -> dict[str, Any]:
        """Return the form in which it is stored."""
        return dict(plain(self))


def finding(
    code: Code,
    severity: Severity,
    words: str,
    rows: Iterable[Mapping[str, Any]],
    remedy: RecoveryAction | None = None,
    also: RecoveryAction | None = None,
) -> Finding:
    """Put a finding together from all its rows; of them the first are kept."""
    everything = tuple(rows)
    return Finding(code, severity, words, everything[:MOST_ROWS], len(everything), remedy, also)


def remedy_of(
    ruling: Ruling, service: Service, step: Step, words: str, instants: Iterable[str] = ()
) -> RecoveryAction:
    """Return a service as a remedy, as it was ruled on."""
    return RecoveryAction(
        words,
        service,
        step,
        tuple(instants),
        needs_approval=ruling.needs_approval,
        refused=None if ruling.is_allowed else ruling.reason,
    )


def span_words(span: timedelta) -> str:
    """Say a span of time in the two units that matter."""
    minutes = max(0, int(span.total_seconds() // 60))
    days, hours, left = minutes // 1440, minutes % 1440 // 60, minutes % 60
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {left} min" if left else f"{hours} h"
    return f"{left} min"
