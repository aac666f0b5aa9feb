"""Tests the home page's picture of cached tables by front end."""

from datetime import datetime

import pytest

from portal.connectors.lake_config import LakeConfig
from refresh.freshness.domain.freshness import Freshness
from refresh.models import TargetFrontEnd
from tests.component.conftest import People
from tests.component.portal.ui.test_home_pictures import client_of, picture, table_of
from tests.component.refresh.refresh_rows import cluster
from tests.component.refresh.refresh_tables import target

pytestmark = pytest.mark.django_db(transaction=True)


def test_tables_are_counted_by_front_end_the_stalest_first(
    people: People, lake: LakeConfig, now: datetime
) -> None:
    row = cluster()
    for table in ("a", "b"):
        target(row, table, now=now)
    behind = TargetFrontEnd.objects.filter(fe__name="bi-fe1", target__table="a")
    assert behind.update(freshness=Freshness.STALE) == 1
    rows = table_of(picture(client_of(people.admin), "front-ends"))
    assert list(rows.items()) == [
        ("bi 127.0.0.3:9030", ["1", "1"]),
        ("bi 127.0.0.2:9030", ["2", "0"]),
    ]
    assert client_of(people.owner).get("/home/pictures/front-ends/").status_code == 404
