"""Decides which alarms an inspection of a Hudi table opens, and which it closes.

Each kind of finding has one, and so has a timeline that cannot be relied on. An alarm is closed by
a look that could have found the same and did not: what was not read is no good news.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.domain.findings import Code, Finding, Severity
from optimizer.hudi.inspect.domain.timeline import unfit

BROKEN = "broken-timeline"
CODES = (*(one.value for one in Code), BROKEN)
TITLES = {
    Code.CORRUPT_BLOCKS.value: "Corrupt log blocks",
    Code.LOST_BASE.value: "Base files are lost",
    Code.UNKNOWN_BLOCKS.value: "Log blocks of unknown instants",
    Code.DUPLICATE_KEYS.value: "Duplicate keys",
    Code.STUCK.value: "Stuck instants",
    Code.STALE_VIEW.value: "Read-optimized view is stale",
    Code.NEVER_EXECUTED.value: "Plans were never executed",
    Code.PLANS_PILE_UP.value: "Pending plans",
    BROKEN: "Timeline is broken",
}
_BY_LOGS = frozenset({Code.CORRUPT_BLOCKS.value, Code.UNKNOWN_BLOCKS.value})


_BAD = (Severity.INFO, Severity.WARNING, Severity.CRITICAL)


def is_worse(now: str, before: str) -> bool:
    """Whether one severity is worse than another, so that people are told again."""
    return _BAD.index(Severity(now)) > _BAD.index(Severity(before))


@dataclass(frozen=True, slots=True)
class Raised:
    """An alarm that holds: of several findings with one code the worst says it."""

    code: str
    severity: Severity
    words: str


def raised(look: HudiInspection, findings: Iterable[Finding]) -> dict[str, Raised]:
    """Return the alarms that hold by a look whose findings come the worst first."""
    left_alone = unfit(look)
    if left_alone is not None and left_alone.code == "broken":
        return {BROKEN: Raised(BROKEN, Severity.CRITICAL, left_alone.reason)}
    found: dict[str, Raised] = {}
    n_of: dict[str, int] = {}
    for one in findings:
        code = one.code.value
        n_of[code] = n_of.get(code, 0) + 1
        found.setdefault(code, Raised(code, one.severity, one.words))
    return {
        code: one
        if n_of[code] == 1
        else Raised(code, one.severity, f"{one.words} And {n_of[code] - 1} more of the kind.")
        for code, one in found.items()
    }


def over(look: HudiInspection, holds: Collection[str], is_open: Collection[str]) -> frozenset[str]:
    """Return the open alarms that this look ends."""
    ended = frozenset(is_open) - frozenset(holds)
    if unfit(look) is not None:
        # Nothing else can be told of such a table; one that is merely too old is not broken.
        return ended & {BROKEN} if BROKEN not in holds else frozenset()
    if not look.has_read_logs:
        ended -= _BY_LOGS
    if not (look.has_read_keys and look.has_read_logs):
        # Rows that nobody committed are doubled ones too, told by the logs.
        ended -= {Code.DUPLICATE_KEYS.value}
    return ended
