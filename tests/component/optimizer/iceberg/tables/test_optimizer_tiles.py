"""The tiles of an Iceberg table are one look's; what was committed since stands beside them."""

from datetime import datetime, timedelta

import pytest
from django.test import Client

from optimizer.models import HealthPoint
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import commit, iceberg

pytestmark = pytest.mark.django_db


def test_counts_of_two_moments_are_not_mixed(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    row = iceberg(
        now=now, snapshot_id=9, looked_snapshot_id=7, n_files=39, n_small=30, n_delete_files=32
    )
    HealthPoint.objects.filter(table=row).delete()
    row.trend.create(
        at=now - timedelta(minutes=9), snapshot_id=7, health=53, n_files=35, n_small=30,
        n_bytes=1000, n_delete_files=2,
    )  # fmt: skip
    for n, snapshot in enumerate((7, 8, 9)):
        commit(row, snapshot, at=now - timedelta(minutes=9 - n))
    client = Client()
    client.force_login(people.admin)

    page = client.get(f"/optimizer/tables/{row.pk}/")
    text, since = page.content.decode(), page.context["since"]

    assert (since.look.n_files, since.look.n_delete_files) == (35, 2)
    assert (since.n_commits, since.n_files, since.n_delete_files) == (2, 4, 30)
    assert "30 of them small" in text
    assert "2 commits (+4 data files, +30 delete files)" in text


def test_a_table_without_delete_files_names_no_partitions_of_them(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    row = iceberg(now=now)
    HealthPoint.objects.filter(table=row).delete()
    row.trend.create(
        at=now, snapshot_id=7, health=90, n_files=5, n_small=0, n_bytes=10, n_delete_files=0
    )
    client = Client()
    client.force_login(people.admin)
    text = client.get(f"/optimizer/tables/{row.pk}/").content.decode()
    after = text[text.index("Delete files</span>") :]
    assert "partition" not in after[: after.index("</a>")]
