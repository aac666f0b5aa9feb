"""Statements of long ago are forgotten, a few at a time; what runs and what is newer stays."""

from datetime import timedelta
from typing import Any

import pytest

from refresh.history import services
from refresh.history.services import LEAST, history_forget
from refresh.models import Refresh, RefreshOutcome
from tests.component.refresh.refresh_rows import NOW, cluster
from tests.component.refresh.refresh_tables import statement, target

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def test_the_oldest_statements_of_a_cluster_go_after_their_days(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bi, etl = cluster(), cluster("etl")
    for row in (bi, etl):
        of = target(row, "sales", now=NOW)
        for days in (89, 91, 92, 93):
            statement(of, began=NOW - timedelta(days=days))
    mine = target(bi, "clicks", now=NOW)
    runs = statement(mine, began=NOW - timedelta(days=99), ending=RefreshOutcome.RUNNING)
    monkeypatch.setattr(services, "CHUNK", 2)

    assert [history_forget(bi, now=NOW) for _ in range(3)] == [2, 1, 0]
    left = Refresh.objects.filter(cluster=bi).exclude(pk=runs.pk)
    assert [one.began_at for one in left] == [NOW - timedelta(days=89)]
    assert Refresh.objects.filter(pk=runs.pk).exists()
    assert Refresh.objects.filter(cluster=etl).count() == 4

    settings.LAKEWARDEN_REFRESH_HISTORY_DAYS = 0
    kept = statement(mine, began=NOW - LEAST + timedelta(minutes=1))
    assert history_forget(bi, now=NOW) == 1
    assert set(Refresh.objects.filter(cluster=bi)) == {runs, kept}
