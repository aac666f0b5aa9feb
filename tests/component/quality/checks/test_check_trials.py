"""A draft of checks is tried on past windows: by what is kept, and by a run that measures more."""

from datetime import UTC, datetime, timedelta

import pytest

from portal.access.models import User
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.models import Run
from portal.runs.records.spools import new_spool
from quality.checks.domain.messages import Measured, MetricValue, WindowValues, read_request
from quality.checks.run_kinds import TrialKind
from quality.checks.selectors.check_sets import get_trial_for_user
from quality.checks.services.requests import check_request
from quality.checks.services.trials import (
    KEPT,
    checks_try,
    trial_request,
    trial_result,
    trial_task,
    trials_trim,
)
from quality.models import CheckTrial, Measurement, RuleResult
from tests.component.conftest import People
from tests.component.quality.checks.checked import declare, measure, wrote
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
DRAFT = """
table: shop.notes
partition_key: dt
rules:
  - {name: more, metric: row_count, min: 10}
  - {name: filled, metric: null_rate, column: id, max: 0.1}
"""


def test_a_draft_is_judged_by_what_was_measured_before(hive: FlagLake, people: People) -> None:
    row = declare(people.owner, NOW)
    measure(row, check_request(row, by="olga", now=NOW), NOW, 9)
    before = RuleResult.objects.count()
    trial = checks_try("main", DRAFT, user=people.owner, now=NOW)
    more, filled = trial.tried
    assert [(one.label, one.verdict.value, one.verdict.low) for one in more.fired] == [
        ("2026-11-21", 9, 10)
    ]
    assert (trial.n_fired, trial.unmeasured, filled.windows) == (1, ("null_rate(id)",), ())
    assert RuleResult.objects.count() == before
    stranger = checks_try("main", DRAFT, user=people.stranger, now=NOW)
    assert stranger.tried[0].windows == (), "a stranger is told of no value"
    other = DRAFT.replace("partition_key: dt\n", "")
    assert checks_try("main", other, user=people.owner, now=NOW).tried[0].windows == ()
    with pytest.raises(RuleViolation):
        checks_try("main", "rules: [", user=people.owner, now=NOW)


def _done(user: User, trial: CheckTrial, n_rows: int) -> Run:
    run = Run.objects.get(kind="quality.try")
    values = (MetricValue("row_count", n_rows), MetricValue("null_rate(id)", 0.5))
    found = (WindowValues("2026-11-20", n_rows, values),)
    wrote(run, Measured(trial.pk, "done", NOW, found))
    return run


def test_a_run_measures_past_windows_and_leaves_no_result(hive: FlagLake, people: People) -> None:
    hive.names["notes"] = [
        f"dt=2026-{month}-{day:02}" for month in (10, 11) for day in range(1, 31)
    ]
    with pytest.raises(NotVisible):
        trial_request("main", DRAFT, user=people.stranger, now=NOW)
    trial = trial_request("main", DRAFT, user=people.owner, now=NOW)
    with pytest.raises(NotVisible):
        get_trial_for_user(trial.pk, people.stranger)
    (task,) = read_request(trial_task(Run.objects.get(kind="quality.try"))).tasks
    assert (len(task.windows), task.windows[0].value) == (30, "2026-11-30")
    assert (task.budget_seconds, task.sample) == (900, ())
    run = _done(people.owner, trial, 4)
    for _ in range(2):
        TrialKind().ingest(run, {"outcome": "done"})
    trial = get_trial_for_user(trial.pk, people.owner)
    found = trial_result(trial, user=people.owner, now=NOW)
    assert [one.fired[0].label for one in found.tried] == ["2026-11-20", "2026-11-20"]
    assert found.unmeasured == ()
    assert not RuleResult.objects.exists()
    assert not Measurement.objects.exists()
    assert trials_trim("main", now=NOW + KEPT) == 0
    assert trials_trim("main", now=NOW + KEPT + timedelta(seconds=1)) == 1


def test_a_trial_that_cannot_be_measured_says_why(hive: FlagLake, people: People) -> None:
    trial = trial_request("main", DRAFT, user=people.owner, now=NOW)
    run = Run.objects.get(kind="quality.try")
    assert read_request(trial_task(run)).tasks == ()
    TrialKind().ingest(run, {"outcome": "done"})
    trial.refresh_from_db()
    assert trial.problem == "No window of it is there to be measured."
    assert trial.measured_at is not None
    spool = new_spool(run)
    spool.create()
    run.spool = str(spool.root)
    CheckTrial.objects.update(problem="")
    TrialKind().ingest(run, {"outcome": "failed"})
    trial.refresh_from_db()
    assert "did not come to its end" in trial.problem
    for _ in range(2):
        trial_request("main", DRAFT, user=people.owner, now=NOW)
    with pytest.raises(RuleViolation, match="3 trials"):
        trial_request("main", DRAFT, user=people.owner, now=NOW)
