"""Tests the home page's picture of the backups that are purged next."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.backup_world import backup
from tests.component.portal.ui.test_home_pictures import client_of, picture, table_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_bytes_stand_on_the_day_of_their_purge(
    people: People, lake: LakeConfig, tmp_path: Path
) -> None:
    now = timezone.now()
    for number, days_left in enumerate((-2, 1, 1), start=1):
        backup(tmp_path, batch=number, purge_after=now + timedelta(days=days_left, minutes=1))
    rows = table_of(picture(client_of(people.admin), "purges"))
    assert len(rows) == 16
    assert [cells[0] for cells in rows.values()][:3] == ["300 B", "600 B", "0 B"]
    assert table_of(picture(client_of(people.stranger), "purges")) == {}
