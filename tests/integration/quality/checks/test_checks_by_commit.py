"""Measurements of the portal by real runs: from the last commit on, and of a draft's windows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from portal.access.models import User
from portal.access.services import person_create
from portal.runs.domain import RunState
from portal.runs.requests.services import run_drive
from quality.checks.services.declaring import checks_set
from quality.checks.services.requests import check_request
from quality.checks.services.trials import run_of_trial, trial_request, trial_result
from quality.models import Measurement
from stack.stack import LAKE, Stack
from tests.support.iceberg_lake import IcebergLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DOCUMENT = """
table: {table}
rules:
  - {{metric: row_count, min: 1}}
  - {{metric: sum, column: id, min: 0}}
"""


def somebody(stack: Stack, settings: Any) -> User:
    settings.LAKEWARDEN_LAKES = stack.lakes_file
    settings.LAKEWARDEN_VAR = stack.var
    return person_create(
        "ada", password="correct horse staple", email="ada@example.org", roles=("admin",)
    )


def test_a_table_is_measured_from_its_last_commit_on(
    iceberg_lake: IcebergLake, embedded_stack: Stack, settings: Any
) -> None:
    ada = somebody(embedded_stack, settings)
    table = iceberg_lake.table()
    table.append([(1, "d0", "a"), (2, "d0", "b")])
    text = DOCUMENT.format(table=f"{iceberg_lake.db}.{table.name}")
    row = checks_set(LAKE, text, version=None, user=ada, now=NOW)
    found = []
    for n in range(3):
        run = run_drive(check_request(row, by="ada", now=NOW + timedelta(hours=n)).pk)
        assert run.state == RunState.DONE, run.error
        row.refresh_from_db()
        values = dict(Measurement.objects.values_list("metric", "value"))
        found.append((row.how_read, values["row_count"], values["sum(id)"]))
        if n == 0:
            table.append([(30, "d1", "a")])
        else:
            table.say("DELETE FROM {t} WHERE id = 1")
    newer = "Only rows of newer commits were read."
    assert found[:2] == [("", 2, 3), (newer, 3, 33)]
    assert found[2][1:] == (2, 32)
    assert "changed or removed rows" in found[2][0]


@pytest.mark.long
def test_a_draft_is_tried_on_windows_that_nobody_measured(
    iceberg_lake: IcebergLake, embedded_stack: Stack, settings: Any
) -> None:
    ada, now = somebody(embedded_stack, settings), datetime.now(UTC)
    yesterday = str(now.date() - timedelta(days=1))
    table = iceberg_lake.table()
    table.append([(1, yesterday, "a"), (2, yesterday, "b"), (3, str(now.date()), "c")])
    text = f"""
table: {iceberg_lake.db}.{table.name}
partition_key: dt
rules:
  - {{name: few, metric: row_count, max: 1}}
"""
    trial = trial_request(LAKE, text, user=ada, now=now)
    run = run_of_trial(trial)
    assert run is not None
    assert run_drive(run.pk).state == RunState.DONE
    trial.refresh_from_db()
    assert trial.problem == ""
    (rule,) = trial_result(trial, user=ada, now=now).tried
    assert [(one.label, one.verdict.value) for one in rule.fired] == [(yesterday, 2)]
    assert not Measurement.objects.exists()
