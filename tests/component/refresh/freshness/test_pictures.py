"""Tests the home page's picture of how far front ends are behind."""

import json
import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from refresh.freshness.domain.freshness import Danger, Freshness, rank_of
from refresh.freshness.selectors.lag import lag_matrix
from refresh.models import RefreshTarget, TargetFrontEnd, WatchedTable
from tests.component.conftest import People
from tests.component.portal.ui.test_home_pictures import client_of, picture, table_of
from tests.component.refresh.refresh_rows import cluster
from tests.component.refresh.refresh_tables import target

pytestmark = pytest.mark.django_db(transaction=True)


def figure_of(page: str) -> Any:
    found = re.search(r"<pre [^>]*>(.*?)</pre>", page)
    assert found
    return json.loads(unescape(found[1]))["figure"]


def stands(table: str, fe: str, state: Freshness, *, minutes: int | None = None) -> None:
    since = None if minutes is None else timezone.now() - timedelta(minutes=minutes, seconds=5)
    on_fe = TargetFrontEnd.objects.filter(fe__name=fe, target__table=table)
    assert on_fe.update(freshness=state, stale_since=since) == 1


def test_the_worst_tables_are_rows_and_each_front_end_a_column(
    people: People, lake: LakeConfig, now: datetime
) -> None:
    row = cluster()
    for table in ("a", "b", "gone"):
        target(row, table, now=now)
    TargetFrontEnd.objects.update(freshness=Freshness.FRESH, stale_since=None)
    RefreshTarget.objects.update(rank=rank_of(Freshness.FRESH, Danger.NONE))
    RefreshTarget.objects.filter(table="b").update(rank=rank_of(Freshness.STALE, Danger.WRONG))
    WatchedTable.objects.filter(table="gone").update(is_deleted=True)
    stands("b", "bi-fe1", Freshness.STALE, minutes=30)
    stands("b", "bi-fe0", Freshness.DIVERGED)
    page = picture(client_of(people.admin), "front-ends")
    db = RefreshTarget.objects.get(table="a").db
    assert list(table_of(page).items()) == [
        (f"{db}.b", ["Diverged", "30 min"]),
        (f"{db}.a", ["Fresh", "Fresh"]),
    ]
    heat = figure_of(page)["data"][0]
    assert heat["type"] == "heatmap"
    assert heat["z"][0] == [0.0, 0.25]
    assert heat["z"][1] == [1.0, 1.0]
    assert heat["texttemplate"] == "%{text}", "the colour is not alone"
    assert client_of(people.owner).get("/home/pictures/front-ends/").status_code == 404


def test_more_tables_cost_no_more_queries_and_stay_a_picture(
    people: People, lake: LakeConfig, now: datetime
) -> None:
    row = cluster()
    for number in range(30):
        target(row, f"t{number}", now=now)
    with CaptureQueriesContext(connection) as caught:
        found = lag_matrix("main", people.admin, n_tables=20, n_front_ends=1)
    assert len(caught) <= 3  # one of them are the rights of a person
    assert (len(found.tables), len(found.front_ends)) == (20, 1)


def test_where_nothing_is_known_yet_there_is_nothing_to_draw(
    people: People, lake: LakeConfig, now: datetime
) -> None:
    target(cluster(), "a", now=now)
    TargetFrontEnd.objects.update(freshness=Freshness.UNKNOWN, stale_since=None)
    assert "nothing to draw yet" in picture(client_of(people.admin), "front-ends")


def test_without_cached_tables_there_is_nothing_to_draw(people: People, lake: LakeConfig) -> None:
    assert "nothing to draw yet" in picture(client_of(people.admin), "front-ends")
