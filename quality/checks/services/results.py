"""Takes in what was measured, and judges the rules by it and by what was measured before.

Taken in again nothing changes. A verdict on another value drops an override: two people judged what
they saw.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from django.db import transaction

from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.results.json_files import json_results
from portal.upserts import conflict_key
from quality.checks.domain.judge import judge
from quality.checks.domain.messages import MEASURED, Measured, WindowValues
from quality.checks.domain.metrics import COMPARED
from quality.checks.domain.reasons import Reason
from quality.checks.domain.rules import Rule, Severity
from quality.checks.domain.windows import Reading
from quality.checks.services.blocking import look_soon
from quality.checks.services.followers import tell_judged, tell_unmeasured
from quality.checks.services.from_comparisons import source_differences
from quality.checks.services.problems import unmeasured_note
from quality.checks.services.taken_back import KEPT as TAKEN_BACK_KEPT
from quality.checks.services.taken_back import taken_back_at
from quality.models import CheckSet, Measurement, RuleResult, TakenBack

KEPT = timedelta(days=800)
"""A comparison with the year before needs more than a year."""
_MOST_HISTORY = 2_000
_AT_ONCE = 1_000
_WRITTEN_AT_ONCE = 200


def results_take(run: Run) -> int:
    """Take in each table that a run has measured; returns how many there were."""
    n_tables = 0
    for measured in json_results(open_spool(run), MEASURED, Measured):
        n_tables += _take(run, measured)
    return n_tables


def runs_failed(run: Run, problem: str, *, now: datetime) -> int:
    """Say at each table of a run that failed that it was not measured; returns how many."""
    rows = CheckSet.objects.filter(lake=run.lake, pk__in=run.params["sets"])
    unmeasured = rows.exclude(measured_at__gte=run.queued_at)
    return sum(
        unmeasured_note(set_id, problem, at=now, since=run.queued_at)
        for set_id in list(unmeasured.order_by("pk").values_list("pk", flat=True))
    )


def results_trim(lake: str, *, now: datetime) -> int:
    """Delete what was measured longer ago than anything compares with; returns how much."""
    n_deleted = 0
    for rows in (
        Measurement.objects.filter(check_set__lake=lake, measured_at__lt=now - KEPT),
        RuleResult.objects.filter(check_set__lake=lake, judged_at__lt=now - KEPT),
        TakenBack.objects.filter(check_set__lake=lake, at__lt=now - TAKEN_BACK_KEPT),
    ):
        old = list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE])
        rows.model.objects.filter(pk__in=old).delete()
        n_deleted += len(old)
    return n_deleted


@transaction.atomic
def _take(run: Run, measured: Measured) -> int:
    sets = CheckSet.objects.select_for_update().filter(lake=run.lake, pk=measured.id)
    row = sets.first()
    at = measured.measured_at
    if row is None or (row.measured_at is not None and row.measured_at > at):
        return 0  # deleted, or measured again since
    if measured.state == "failed":
        row.problem = measured.note or measured.reason
        tell_unmeasured(row, row.problem, now=at)
    else:
        row.problem, row.commit = "", measured.commit
        row.how_read = measured.how_read
        rules = row.checks.rules
        compared = source_differences(row, rules, now=at)
        windows = measured.windows
        if compared is not None:
            windows = tuple(
                msgspec.structs.replace(one, values=(*one.values, compared.value))
                for one in measured.windows
            )
        _keep(row, windows, commit=measured.commit, at=at)
        # Only now: windows of one run are compared with each other too.
        results: list[RuleResult] = []
        taken_back = taken_back_at(row, [one.window for one in windows])
        for rule in rules:
            known_at = compared.at if compared and rule.metric is COMPARED else None
            of = known_at or at
            judged = [
                one
                for one in windows
                if rule.severity is not Severity.BLOCK or taken_back.get(one.window, of) <= of
            ]
            results += _judge(row, rule, judged, at=at, known_at=known_at)
        tell_judged(row, results, now=at)
        look_soon(row, results, now=at)
    row.measured_at = at
    row.save(update_fields=["problem", "commit", "how_read", "measured_at"])
    return 1


def _keep(row: CheckSet, windows: Sequence[WindowValues], *, commit: str, at: datetime) -> None:
    today = str(at.astimezone(UTC).date())
    rows = [
        Measurement(
            check_set=row,
            metric=one.key,
            window=window.window,
            day="" if window.window else today,
            value=one.value,
            reason=one.reason,
            detail=one.detail,
            state=msgspec.to_builtins(one.state),
            commit=commit,
            measured_at=at,
        )
        for window in windows
        for one in window.values
    ]
    Measurement.objects.bulk_create(
        rows,
        batch_size=_WRITTEN_AT_ONCE,
        update_conflicts=True,
        unique_fields=conflict_key("check_set", "metric", "window", "day"),
        update_fields=["value", "reason", "detail", "state", "commit", "measured_at"],
    )


def _judge(
    row: CheckSet,
    rule: Rule,
    windows: Sequence[WindowValues],
    *,
    at: datetime,
    known_at: datetime | None,
) -> list[RuleResult]:
    key = rule.measured.key
    history = _history(row, rule) if rule.needs_history else []
    rows = []
    for window in windows:
        found = next((one for one in window.values if one.key == key), None)
        value = None if found is None else found.value
        reason = Reason.NOT_MEASURED if found is None else found.reason
        verdict = judge(rule, Reading(window.window, value, known_at or at, reason), history)
        detail = found.detail if found and found.detail else ""
        rows.append(
            RuleResult(
                check_set=row,
                window=window.window,
                rule=rule.name,
                severity=rule.severity.value,
                outcome=verdict.outcome.value,
                text=f"{verdict.text} {detail}".strip(),
                value=verdict.value,
                low=verdict.low,
                high=verdict.high,
                judged_at=at,
                known_at=known_at,
            )
        )
    _write(row, rule, rows)
    return rows


def _history(row: CheckSet, rule: Rule) -> list[Reading]:
    rows = row.measurements.filter(metric=rule.measured.key).order_by("-measured_at")
    return [
        Reading(one.window, one.value, one.measured_at, one.reason)
        for one in rows.defer("state", "detail")[:_MOST_HISTORY]
    ]


def _write(row: CheckSet, rule: Rule, rows: Sequence[RuleResult]) -> None:
    known = row.results.filter(rule=rule.name, window__in=[one.window for one in rows])
    before = {one.window: one for one in known}
    others = [
        seen.pk
        for one in rows
        if (seen := before.get(one.window))
        and (seen.outcome, seen.value) != (one.outcome, one.value)
    ]
    RuleResult.objects.filter(pk__in=others).delete()
    RuleResult.objects.bulk_create(
        rows,
        batch_size=_WRITTEN_AT_ONCE,
        update_conflicts=True,
        unique_fields=conflict_key("check_set", "window", "rule"),
        update_fields=[
            "severity",
            "outcome",
            "text",
            "value",
            "low",
            "high",
            "judged_at",
            "known_at",
        ],
    )
