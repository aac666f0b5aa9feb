"""Keeps some rows that spoke against rules, and shows them to those who own the table's data.

They are rows of the lake in the portal's database, so they are few, cut, of rules that did not pass
alone, replaced by each measurement and deleted after some days. Whoever reads them is recorded.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.access.visibility import may_see_rows
from portal.audit.services import audit_record
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.results.json_files import json_result, json_results
from portal.spark.spool import Spool
from quality.checks.domain.judge import Outcome
from quality.checks.domain.messages import MEASURED, SAMPLES, Measured, Sample, Samples
from quality.checks.domain.metrics import SAMPLED
from quality.checks.domain.rules import Severity
from quality.models import CheckSet, RuleResult, RuleSample

MOST_METRICS = 20
"""Of a table; each costs a query of its own for each window."""
_ORDER = [Severity.BLOCK, Severity.ALARM, Severity.NOTE]
_AT_ONCE = 1_000


def sampled_metrics(row: CheckSet) -> tuple[str, ...]:
    """Return the keys of metrics whose rows are wanted, those of blocking rules first."""
    if not _are_wanted(row):
        return ()
    rules = sorted(row.checks.rules, key=lambda one: _ORDER.index(one.severity))
    keys = [one.measured.key for one in rules if one.metric in SAMPLED]
    return tuple(dict.fromkeys(keys))[:MOST_METRICS]


def samples_take(run: Run) -> int:
    """Take in the rows that a run has found; returns of how many windows and metrics.

    Called after its results were judged. Taken in again nothing changes.
    """
    spool = open_spool(run)
    return sum(_take(run, spool, one) for one in json_results(spool, SAMPLES, Samples))


def samples_trim(lake: str, *, now: datetime) -> int:
    """Delete rows that are too old, or all of a lake that keeps none; returns of how many."""
    rows = RuleSample.objects.filter(check_set__lake=lake)
    if get_lake(lake).check_samples:
        kept = timedelta(days=settings.LAKEWARDEN_CHECK_SAMPLE_DAYS)
        rows = rows.filter(measured_at__lt=now - kept)
    old = list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE])
    RuleSample.objects.filter(pk__in=old).delete()
    return len(old)


def sample_of(result: RuleResult, *, user: User) -> RuleSample | None:
    """Return the rows against a result, if there are any and the person may see rows.

    Only where they are shown must it be recorded: see `sample_read`.
    """
    row = result.check_set
    rule = next((one for one in row.checks.rules if one.name == result.rule), None)
    may = may_see_rows(user, row.hive, owner=row.owner)
    if rule is None or not may or not _are_wanted(row) or result.outcome == Outcome.PASSED:
        return None
    # Another measurement found other rows, or none.
    return row.samples.filter(
        window=result.window, metric=rule.measured.key, measured_at=result.judged_at
    ).first()


def sample_read(result: RuleResult, *, user: User, now: datetime) -> RuleSample:
    """Return the rows against a result; each read is recorded, for it shows data.

    Raises:
        NotVisible: `checks.samples`, there are none, or the person may see no rows of the table.
    """
    found = sample_of(result, user=user)
    if found is None:
        raise NotVisible("checks.samples", "There are no such rows for you.", result=result.pk)
    audit_record(
        "checks.samples_read",
        actor=user.username,
        lake=result.check_set.lake,
        object_type="table",
        object_id=str(result.check_set),
        data={"rule": result.rule, "window": result.window, "rows": len(found.rows)},
        now=now,
    )
    return found


def _are_wanted(row: CheckSet) -> bool:
    is_kept = settings.LAKEWARDEN_CHECK_SAMPLE_DAYS > 0 and get_lake(row.lake).check_samples
    return is_kept and row.checks.samples == "on"


@transaction.atomic
def _take(run: Run, spool: Spool, found: Samples) -> int:
    sets = CheckSet.objects.select_for_update().filter(lake=run.lake, pk=found.id)
    row = sets.first()
    measured = json_result(spool, MEASURED, found.id, Measured)
    if row is None or measured is None or measured.state != "done":
        return 0
    if row.measured_at != measured.measured_at:
        return 0  # measured again since, or the run was killed in between
    row.samples.filter(window__in=[one.window for one in measured.windows]).delete()
    if not _are_wanted(row):
        return 0
    refused = _refused(row, measured.measured_at)
    kept = [
        _sample(row, one, at=measured.measured_at)
        for one in found.samples
        if one.rows and (one.window, one.key) in refused
    ]
    RuleSample.objects.bulk_create(kept)
    return len(kept)


def _refused(row: CheckSet, at: datetime) -> set[tuple[str, str]]:
    """Return the windows and metrics of rules that did not pass just now."""
    keys = {one.name: one.measured.key for one in row.checks.rules}
    results = row.results.filter(judged_at=at).exclude(outcome=Outcome.PASSED.value)
    return {
        (window, keys[rule])
        for window, rule in results.values_list("window", "rule")
        if rule in keys
    }


def _sample(row: CheckSet, one: Sample, *, at: datetime) -> RuleSample:
    return RuleSample(
        check_set=row,
        window=one.window,
        metric=one.key,
        columns=list(one.columns),
        rows=[list(values) for values in one.rows],
        measured_at=at,
    )
