"""Keeps partitions from becoming ready while a blocking rule has not passed and is not overridden.

A measurement counts that began after the partition was made or changed, as the metastore knows it;
where that is not known, none does. By rule, it counts from the period's end on. Who marks
partitions as ready by hand or by a job is held back as well; saying that they are not ready drops
what was said of their old data.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from portal.lake.names import TableName
from quality.checks.domain.judge import Outcome
from quality.checks.domain.rules import Rule, Severity
from quality.checks.services.requests import window_of
from quality.checks.services.taken_back import windows_take_back
from quality.models import CheckSet, ExpectedPartition, FreshnessRule, RuleResult

_NAMED = 3


def held_back(
    rule: FreshnessRule,
    periods: Sequence[ExpectedPartition],
    changed: Mapping[datetime, datetime | None],
) -> dict[datetime, str]:
    """Return why periods may not become ready, by their start; a paused set counts too."""
    row = _set_of(rule.lake, rule.db, rule.table)
    if row is None:
        return {}
    said = _Said(row, {one.spec for one in periods})
    found = {}
    for one in periods:
        # Of a period without partitions, its end is all that there is to be measured after.
        since = _Since(one.end, changed.get(one.start, one.end))
        found[one.start] = said.lacks(one.spec, since)
    return {start: reason for start, reason in found.items() if reason}


def look_soon(row: CheckSet, results: Sequence[RuleResult], *, now: datetime) -> None:
    """Have the periods of a table looked at again at once where a rule that blocks has passed.

    The freshness rule would else come to them minutes later, or in an hour.
    """
    has_passed = any(
        one.severity == Severity.BLOCK.value and one.outcome == Outcome.PASSED.value
        for one in results
    )
    if has_passed:
        rules = FreshnessRule.objects.filter(lake=row.lake, db=row.db, table=row.table)
        rules.filter(look_at__gt=now).update(look_at=now)


class Marks:
    """The gate of those who mark partitions themselves."""

    def refused(self, hive: TableName, changed: Mapping[str, datetime | None]) -> dict[str, str]:
        """Return why partitions may not be marked as ready, by name; a paused set counts too."""
        row = _set_of(str(hive.lake), hive.db, hive.table)
        if row is None:
            return {}
        said = _Said(row, set(changed))
        found = {name: said.lacks(name, _Since(None, at)) for name, at in changed.items()}
        return {name: reason for name, reason in found.items() if reason}

    def taken_back(self, hive: TableName, names: Sequence[str], *, now: datetime) -> None:
        """Drop the results of blocking rules: they are of data that is written again now."""
        row = _set_of(str(hive.lake), hive.db, hive.table)
        if row is None or not names:
            return
        key, windows = row.checks.partition_key, {""}
        if key:
            windows = {window_of(name, key) for name in names} - {""}
        windows_take_back(row.pk, windows, now=now)


@dataclass(frozen=True, slots=True)
class _Since:
    """After what a measurement has to have begun."""

    end: datetime | None
    """Of the period; None: it may have begun before."""
    changed: datetime | None
    """The partition's last change; None: nobody knows."""

    def lacks(self, at: datetime) -> str:
        """Say what a measurement lacks; empty: nothing."""
        if self.end is not None and at < self.end:
            return "was not measured since its end"
        if self.changed is None:
            return "does not count: nobody knows when the partition changed last"
        # The metastore knows whole seconds.
        if at < self.changed + timedelta(seconds=1):
            return "was not measured since the partition changed"
        return ""


class _Said:
    """What the blocking rules of a table say of some of its partitions."""

    def __init__(self, row: CheckSet, specs: Collection[str]) -> None:
        checks = row.checks
        self.row, self.key = row, checks.partition_key
        self.rules = [one for one in checks.rules if one.severity is Severity.BLOCK]
        self.windows = {spec: window_of(spec, self.key) if self.key else "" for spec in specs}
        self.results = _results(row, self.rules, set(self.windows.values())) if self.rules else {}

    def lacks(self, spec: str, since: _Since) -> str:
        """Say what holds a partition back; empty: nothing does."""
        window = self.windows[spec]
        if self.rules and self.key and not window:
            return f"its checks have windows of {self.key}, which names no period"
        known = self.results.get(window, {})
        lacks = [
            said
            for rule in self.rules
            if (said := _lack(self.row, rule, known.get(rule.name), since))
        ]
        more = f" and {len(lacks) - _NAMED} more" if len(lacks) > _NAMED else ""
        return ", ".join(lacks[:_NAMED]) + more


def _set_of(lake: str, db: str, table: str) -> CheckSet | None:
    return CheckSet.objects.filter(lake=lake, db=db, table=table).first()


def _results(
    row: CheckSet, blocking: Sequence[Rule], windows: set[str]
) -> dict[str, dict[str, RuleResult]]:
    rows = row.results.filter(window__in=windows, rule__in=[one.name for one in blocking])
    found: defaultdict[str, dict[str, RuleResult]] = defaultdict(dict)
    for one in rows.select_related("override"):
        found[one.window][one.rule] = one
    return found


def _lack(row: CheckSet, rule: Rule, result: RuleResult | None, since: _Since) -> str:
    """Say why a rule holds a partition back; empty: it does not."""
    if result is None:
        return f"check {rule.name} was not measured"
    if lack := since.lacks(result.known_at or result.judged_at):
        return f"check {rule.name} {lack}"
    if row.problem and (row.measured_at is None or result.judged_at < row.measured_at):
        return f"check {rule.name} could not be measured again"
    if result.outcome == Outcome.PASSED.value:
        return ""
    override = getattr(result, "override", None)
    if override is not None and override.holds:
        return ""
    said = "failed" if result.outcome == Outcome.FAILED.value else "could not be judged"
    return f"check {rule.name} {said}"
