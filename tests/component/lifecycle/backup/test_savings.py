"""The savings: what was dropped, came back, waits in a backup and is free, by owner and month."""

import csv
import random
from collections import defaultdict
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.test import Client

from lifecycle.backup.models import BackupBatch, Savings
from lifecycle.backup.services.totals import backup_totals_refresh
from portal.access.models import User
from tests.component.conftest import LAKE, People
from tests.component.lifecycle.notices.test_daily_report import dropped

pytestmark = pytest.mark.django_db
STATES = ("DROPPED", "PARTLY_RESTORED", "RESTORED", "PURGING", "PURGED", "REPORTED")
PAGE, API = "/lifecycle/savings/", "/api/v1/lifecycle/savings/"


def batches(now: datetime) -> None:
    """Make batches of every state over three months, for two owners in two databases."""
    dice = random.Random(7)
    for _ in range(60):
        state = dice.choice(STATES)
        n_items = 0 if state == "REPORTED" else dice.randint(1, 9)
        size = n_items * 100
        back = {"RESTORED": n_items, "PARTLY_RESTORED": n_items // 2, "PURGED": n_items // 3}
        n_back = back.get(state, 0)
        dropped(
            now - timedelta(days=dice.randint(0, 80)),
            state=state,
            db=dice.choice(("sales", "web")),
            table=dice.choice(("orders", "logs")),
            table_owner=dice.choice(("olga", "paul")),
            n_items=n_items,
            n_bytes=size,
            n_restored=n_back,
            restored_bytes=n_back * 100,
        )


def recounted() -> dict[tuple[str, str, str], list[int]]:
    """Add everything up plainly: by owner and database, in each month and in all."""
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0] * 6)
    for row in BackupBatch.objects.exclude(state="REPORTED"):
        left = row.n_bytes - row.restored_bytes
        freed = left if row.state == "PURGED" else 0
        facts = (row.n_items, row.n_restored, row.n_bytes, row.restored_bytes, freed, left - freed)
        for month in (str(row.day.replace(day=1)), str(Savings.EVER)):
            for key in ((month, row.db, row.table_owner), (month, "", "")):
                sums[key] = [a + b for a, b in zip(sums[key], facts, strict=True)]
    return dict(sums)


def kept() -> dict[tuple[str, str, str], list[int]]:
    return {
        (str(row.month), row.db, row.table_owner): [
            *(row.n_dropped, row.n_restored, row.dropped_bytes, row.restored_bytes),
            *(row.purged_bytes, row.waiting_bytes),
        ]
        for row in Savings.objects.filter(lake=LAKE)
    }


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def owners(answer: Any) -> set[str]:
    return {row["table_owner"] for row in answer.json()["results"]}


def test_what_is_kept_equals_a_plain_recount_whatever_becomes_of_the_batches(
    now: datetime,
) -> None:
    batches(now)
    assert kept() == recounted()
    for batch in BackupBatch.objects.filter(state="DROPPED")[:10]:
        batch.state = "PURGED"
        batch.save()
        backup_totals_refresh(LAKE, [batch.day])
    assert kept() == recounted()
    again = kept()
    backup_totals_refresh(LAKE, {batch.day for batch in BackupBatch.objects.all()})
    assert kept() == again


@pytest.mark.usefixtures("lake")
def test_everybody_reads_their_own_on_page_api_and_csv(now: datetime, people: People) -> None:
    batches(now)
    admin, owner, stranger = (
        client_of(user) for user in (people.admin, people.owner, people.stranger)
    )
    assert owners(admin.get(API)) == {"olga", "paul"}
    assert owners(owner.get(API)) == {people.owner.username}
    assert owners(stranger.get(API)) == set()
    page = owner.get(PAGE).content.decode()
    assert "Permanently freed" in page
    assert "paul" not in page
    assert "Nothing has been dropped yet" in stranger.get(PAGE).content.decode()
    text = b"".join(admin.get(f"{PAGE}?format=csv&owner=paul")).decode()
    rows = list(csv.DictReader(StringIO(text)))
    wanted = recounted()
    assert rows
    for row in rows:
        said = [int(row[name]) for name in ("n_dropped", "dropped_bytes", "purged_bytes")]
        sums = wanted[str(Savings.EVER), row["db"], "paul"]
        assert said == [sums[0], sums[2], sums[4]]
