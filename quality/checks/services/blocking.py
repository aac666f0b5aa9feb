"""Keeps periods from becoming ready while a blocking rule has not passed and is not overridden."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from quality.checks.domain.judge import Outcome
from quality.checks.domain.rules import Rule, Severity
from quality.checks.services.requests import window_of
from quality.models import CheckSet, ExpectedPartition, FreshnessRule, RuleResult

_NAMED = 3


def held_back(rule: FreshnessRule, periods: Sequence[ExpectedPartition]) -> dict[datetime, str]:
    """Return why periods may not become ready, by their start; a paused set counts too."""
    row = CheckSet.objects.filter(lake=rule.lake, db=rule.db, table=rule.table).first()
    checks = None if row is None else row.checks
    blocking = [] if checks is None else [r for r in checks.rules if r.severity is Severity.BLOCK]
    if row is None or checks is None or not blocking:
        return {}
    key = checks.partition_key
    windows = {one.start: window_of(one.spec, key) if key else "" for one in periods}
    results = _results(row, blocking, set(windows.values()))
    found = {}
    for one in periods:
        window = windows[one.start]
        if key and not window:
            found[one.start] = f"its checks have windows of {key}, which names no period"
            continue
        known = results[window]
        lacks = [said for r in blocking if (said := _lack(row, r, known.get(r.name), one))]
        if lacks:
            more = f" and {len(lacks) - _NAMED} more" if len(lacks) > _NAMED else ""
            found[one.start] = ", ".join(lacks[:_NAMED]) + more
    return found


def _results(
    row: CheckSet, blocking: Sequence[Rule], windows: set[str]
) -> dict[str, dict[str, RuleResult]]:
    rows = row.results.filter(window__in=windows, rule__in=[one.name for one in blocking])
    found: defaultdict[str, dict[str, RuleResult]] = defaultdict(dict)
    for one in rows.select_related("override"):
        found[one.window][one.rule] = one
    return found


def _lack(row: CheckSet, rule: Rule, result: RuleResult | None, period: ExpectedPartition) -> str:
    """Say why a rule holds a period back; empty: it does not."""
    if result is None or result.judged_at < period.end:
        return f"check {rule.name} was not measured since its end"
    if row.problem and (row.measured_at is None or result.judged_at < row.measured_at):
        return f"check {rule.name} could not be measured again"
    if result.outcome == Outcome.PASSED.value:
        return ""
    override = getattr(result, "override", None)
    if override is not None and override.holds:
        return ""
    said = "failed" if result.outcome == Outcome.FAILED.value else "could not be judged"
    return f"check {rule.name} {said}"
