"""Two measurements of the portal: the second one reads the rows of newer commits alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from portal.access.services import person_create
from portal.runs.domain import RunState
from portal.runs.requests.services import run_drive
from quality.checks.services.declaring import checks_set
from quality.checks.services.requests import check_request
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


def test_a_table_is_measured_from_its_last_commit_on(
    iceberg_lake: IcebergLake, embedded_stack: Stack, settings: Any
) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_VAR = embedded_stack.var
    ada = person_create(
        "ada", password="correct horse staple", email="ada@example.org", roles=("admin",)
    )
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
