"""Opens, extends and closes incidents by what was measured.

Taken in again the same results change nothing. The check set's row is locked meanwhile, so that of
a rule one incident is open at most.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from quality.checks.domain.judge import Outcome
from quality.checks.domain.rules import Severity
from quality.incidents.domain.failures import (
    MEASUREMENT,
    Earlier,
    Seen,
    fails,
    has_recovered,
    is_news,
    is_same_again,
    settles,
)
from quality.incidents.domain.states import (
    Action,
    Resolution,
    State,
    closed,
    opened,
    rated,
    reopened,
)
from quality.incidents.services.people import first_assignee
from quality.incidents.services.steps import BY_CHECKS, step, timing
from quality.models import CheckSet, Incident, IncidentWindow, RuleResult

MOST_WINDOWS = 100
"""Kept of an incident; older ones are only counted."""
_WRITTEN = ("outcome", "text", "value", "low", "high", "n_failures", "failed_at", "is_failing")
_WRITTEN_AT_ONCE = 200
_SETTLED = "Every window that failed has passed, or was overridden."
_ON_NEWEST = "The rule passed on the newest window, {}."
_MEASURED = "The table was measured again."
_LEFT = "The rule was deleted, or is a note now."


def incidents_judged(row: CheckSet, results: Sequence[RuleResult], now: datetime) -> None:
    """Take in what the rules of a table said of its windows at `now`."""
    _follow_owner(row)
    by_rule: dict[str, list[RuleResult]] = {}
    for one in results:
        by_rule.setdefault(one.rule, []).append(one)
    unclosed = _unclosed(row)
    overridden = _overridden(row, results)
    for rule, found in by_rule.items():
        seen = [(_seen(one, is_overridden=(rule, one.window) in overridden), one) for one in found]
        _follow(row, rule, seen, unclosed.get(rule), now=now)
    if MEASUREMENT in unclosed:
        _follow(
            row, MEASUREMENT, [_measurement(row, Outcome.PASSED)], unclosed[MEASUREMENT], now=now
        )


def incidents_unmeasured(row: CheckSet, problem: str, now: datetime) -> None:
    """Take in that a table could not be measured; it matters where a rule blocks."""
    _follow_owner(row)
    if any(one.severity is Severity.BLOCK for one in row.checks.rules):
        seen = _measurement(row, Outcome.UNKNOWN, problem)
        _follow(row, MEASUREMENT, [seen], _unclosed(row).get(MEASUREMENT), now=now)


def incidents_changed(row: CheckSet, rules: Sequence[str], by: str, now: datetime) -> None:
    """Resolve the incidents of rules that a set does not have any more, or has as notes."""
    notes = {one.name for one in row.checks.rules if one.severity is Severity.NOTE}
    kept = {*rules, MEASUREMENT} - notes if rules else set()
    for rule, incident in _unclosed(row).items():
        to = closed(incident.standing, State.RESOLVED)
        if rule not in kept and to is not None:
            incident.resolution, incident.reason = Resolution.RULE.value, _LEFT
            step(incident, to, Action.RESOLVED, by=by, now=now, text=_LEFT)


def _follow_owner(row: CheckSet) -> None:
    """Have the incidents of a table seen by who owns it now, and by no former owner."""
    Incident.objects.filter(check_set=row).exclude(owner=row.owner).update(owner=row.owner)


def _unclosed(row: CheckSet) -> dict[str, Incident]:
    rows = Incident.objects.unclosed().select_for_update().filter(check_set=row)
    return {one.rule: one for one in rows.order_by("pk")}


def _overridden(row: CheckSet, results: Sequence[RuleResult]) -> set[tuple[str, str]]:
    """Return the rules and windows whose results two people overrode."""
    held = [one for one in results if one.holds_back]
    if not held:
        return set()
    rules, windows = {one.rule for one in held}, {one.window for one in held}
    rows = row.results.filter(rule__in=rules, window__in=windows)
    return set(rows.filter(override__confirmed_at__isnull=False).values_list("rule", "window"))


def _seen(result: RuleResult, *, is_overridden: bool) -> Seen:
    return Seen(
        result.window,
        Severity(result.severity),
        Outcome(result.outcome),
        result.value,
        is_overridden,
    )


def _measurement(row: CheckSet, outcome: Outcome, text: str = "") -> tuple[Seen, RuleResult]:
    """Return the result of measuring a table at all, in the form of a rule's."""
    result = RuleResult(check_set=row, severity=Severity.BLOCK.value, outcome=outcome, text=text)
    return _seen(result, is_overridden=False), result


def _follow(
    row: CheckSet,
    rule: str,
    seen: Sequence[tuple[Seen, RuleResult]],
    incident: Incident | None,
    *,
    now: datetime,
) -> None:
    failures = _to_look_at(row, rule, seen, incident, now=now)
    if incident is None and failures:
        severity = Severity(failures[0].severity)
        if not _is_over(row, rule, severity, [one.window for one in failures]):
            incident = _opened(row, rule, failures, now=now)
    if incident is None:
        return
    _attach(incident, failures, now=now)
    settled = [one.window for one, _ in seen if settles(one)]
    _settle(row, incident, settled, now=now)


def _to_look_at(
    row: CheckSet,
    rule: str,
    seen: Sequence[tuple[Seen, RuleResult]],
    incident: Incident | None,
    *,
    now: datetime,
) -> list[RuleResult]:
    """Return the failures that an incident has already, and those that are news."""
    failures = [pair for pair in seen if fails(pair[0])]
    if not failures:
        return []
    held = set() if incident is None else set(incident.windows.values_list("window", flat=True))
    earlier = _earlier(row, rule, [one.window for one, _ in failures])
    return [
        result
        for one, result in failures
        if one.window in held or is_news(one, earlier.get(one.window), at=now)
    ]


def _earlier(row: CheckSet, rule: str, windows: Sequence[str]) -> Mapping[str, Earlier]:
    """Return what the last closed incident that had each window knew of it."""
    rows = IncidentWindow.objects.filter(
        incident__check_set=row, incident__rule=rule, window__in=windows
    ).exclude(incident__closed_at=None)
    return {
        one.window: Earlier(
            State(one.incident.state),
            one.incident.resolution,
            one.outcome,
            one.value,
            one.is_failing,
            one.incident.closed_at or one.failed_at,
        )
        for one in rows.select_related("incident").order_by("incident__closed_at", "pk")
    }


def _opened(row: CheckSet, rule: str, results: Sequence[RuleResult], *, now: datetime) -> Incident:
    first = max(results, key=lambda one: one.window)
    severity = Severity(first.severity)
    last = Incident.objects.filter(check_set=row, rule=rule).order_by("-opened_at", "-pk").first()
    if last is not None and is_same_again(State(last.state), opened_at=last.opened_at, at=now):
        to = reopened(last.standing, timing=timing(), now=now)
        if to is not None:
            to = rated(to, severity, timing=timing(), now=now)
            step(last, to, Action.REOPENED, by=BY_CHECKS, now=now, text=first.text)
            return last
    team, assignee = first_assignee(row)
    made = Incident(
        lake=row.lake,
        db=row.db,
        table=row.table,
        owner=row.owner,
        check_set=row,
        rule=rule,
        text=first.text,
        opened_at=now,
        failed_at=now,
    )
    to = opened(severity, team=team, assignee=assignee, timing=timing(), now=now)
    step(made, to, Action.OPENED, by=BY_CHECKS, now=now, text=first.text)
    return made


def _attach(incident: Incident, results: Sequence[RuleResult], *, now: datetime) -> None:
    """Add failures to an incident; those of a measurement that it has change nothing."""
    names = [one.window for one in results]
    known = {one.window: one for one in incident.windows.filter(window__in=names)}
    fresh = [one for one in results if _is_fresh(known.get(one.window), now)]
    if not fresh:
        return
    rows = [_window(incident, one, known.get(one.window), now=now) for one in fresh]
    IncidentWindow.objects.bulk_create(
        [one for one in rows if one.window not in known], _WRITTEN_AT_ONCE
    )
    IncidentWindow.objects.bulk_update(
        [one for one in rows if one.window in known], _WRITTEN, _WRITTEN_AT_ONCE
    )
    last = max(fresh, key=lambda one: one.window)
    incident.text, incident.failed_at = last.text, now
    incident.n_windows += len(set(names) - known.keys())
    incident.n_failures += len(fresh)
    incident.save(update_fields=["text", "failed_at", "n_windows", "n_failures"])
    surplus = incident.windows.order_by("-failed_at", "-window").values_list("pk", flat=True)
    IncidentWindow.objects.filter(pk__in=list(surplus[MOST_WINDOWS : 2 * MOST_WINDOWS])).delete()
    severity = Severity(last.severity)
    to = rated(incident.standing, severity, timing=timing(), now=now)
    if to.state.value != incident.state:
        step(incident, to, Action.WORSENED, by=BY_CHECKS, now=now, text=last.text)
    elif to.severity.value != incident.severity:
        incident.severity = to.severity.value
        incident.save(update_fields=["severity"])


def _window(
    incident: Incident, result: RuleResult, known: IncidentWindow | None, *, now: datetime
) -> IncidentWindow:
    row = known or IncidentWindow(incident=incident, window=result.window, first_at=now)
    row.outcome, row.text = result.outcome, result.text
    row.value, row.low, row.high = result.value, result.low, result.high
    row.n_failures, row.failed_at, row.is_failing = row.n_failures + 1, now, True
    return row


def _is_fresh(known: IncidentWindow | None, now: datetime) -> bool:
    return known is None or known.failed_at < now


def _settle(row: CheckSet, incident: Incident, windows: Iterable[str], *, now: datetime) -> None:
    """Note which windows have passed, and close an incident that is over by itself."""
    settled = list(windows)
    if not settled:
        return
    incident.windows.filter(window__in=settled, is_failing=True).update(is_failing=False)
    failing = list(incident.windows.filter(is_failing=True).values_list("window", flat=True))
    reason = _is_over(row, incident.rule, Severity(incident.severity), failing)
    to = closed(incident.standing, State.RECOVERED) if reason else None
    if to is not None:
        incident.reason = reason
        step(incident, to, Action.RECOVERED, by=BY_CHECKS, now=now, text=reason)


def _is_over(row: CheckSet, rule: str, severity: Severity, failing: Sequence[str]) -> str:
    """Return why a rule has recovered with windows that still fail; empty: it has not."""
    newest = row.results.filter(rule=rule).order_by("-window").first()
    over = has_recovered(
        severity,
        failing=failing,
        newest="" if newest is None else newest.window,
        newest_passed=newest is not None and newest.outcome == Outcome.PASSED.value,
    )
    if not over:
        return ""
    if rule == MEASUREMENT:
        return _MEASURED
    return _ON_NEWEST.format(newest.window) if failing and newest is not None else _SETTLED
