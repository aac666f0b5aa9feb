"""What is old goes, in the order of its age and by an index; what something is told by stays."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from optimizer.models import Commit
from optimizer.services import forgetting
from optimizer.services.forgetting import LEAST, commits_forget
from tests.component.optimizer_rows import NOW, commit, iceberg

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def test_commits_of_the_lake_go_after_their_days(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, other = iceberg(), iceberg(lake="other")
    for n, days in enumerate((29, 31, 40, 50)):
        commit(row, n, at=ago(days))
        commit(other, n, at=ago(days))
    monkeypatch.setattr(forgetting, "CHUNK", 2)
    assert commits_forget("main", now=NOW) == 3
    assert commits_forget("main", now=NOW) == 0
    assert [one.at for one in row.commits.all()] == [ago(29)]
    assert other.commits.count() == 4

    settings.LAKEWARDEN_OPTIMIZER_COMMIT_DAYS = 0
    commit(row, 9, at=NOW - LEAST + timedelta(minutes=1))
    assert commits_forget("main", now=NOW) == 1
    assert [one.snapshot_id for one in row.commits.all()] == [9]


def test_old_commits_are_found_by_their_index() -> None:
    commit(iceberg(), 1, at=ago(40))
    with CaptureQueriesContext(connection) as caught:
        commits_forget("main", now=NOW)
    wanted = caught.captured_queries[0]["sql"]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {wanted}")
        plan = " ".join(str(row[-1]) for row in cursor.fetchall())
    assert "INDEX optimizer_commit_old" in plan, plan
    assert "TEMP B-TREE" not in plan
    assert not Commit.objects.exists()
