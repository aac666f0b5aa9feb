"""The follower, the worker and the pages write at the same rows at once: nobody ends in a deadlock.

On SQLite every transaction waits for the one before it;
tests/integration/whole/test_portal_on_mariadb.py runs this file on MariaDB, where opposite lock
orders end in error 1213.
"""

import random
from dataclasses import replace
from datetime import datetime
from functools import partial

import pytest
from django.db import transaction

from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, record_table_changes
from refresh.freshness.services.freshness import judge
from refresh.models import ChangedPartition, Cluster, RefreshTarget, TargetFrontEnd, WatchedTable
from refresh.worker.services.worker import wake
from tests.component.refresh.refresh_rows import SALES, at, cluster
from tests.support.together import together

pytestmark = pytest.mark.django_db(transaction=True)
TURNS = 6
TABLES = [replace(SALES, table=f"t{number}") for number in range(40)]


def note(seed: int, now: datetime) -> None:
    """Note what a batch of the follower may hold, of tables in any order."""
    chance = random.Random(seed)
    some = chance.sample(TABLES, 25)
    touched = {f"dt={chance.randint(0, 5)}": PartitionChange.UPDATED}
    record_table_changes([Change(one, Cause.EVENT, partitions=touched) for one in some], now=now)


def rest_and_wake(row: Cluster, now: datetime) -> None:
    """Let what rests but is owed wait again, as every look at the front ends does."""
    for target in RefreshTarget.objects.all()[::3]:
        with transaction.atomic():
            WatchedTable.objects.select_for_update().get(pk=target.watched_id)
            RefreshTarget.objects.filter(pk=target.pk).update(due_at=None, waits_since=None)
    wake(row, now=now)


def judge_some(seed: int) -> None:
    """Judge as a look at the names does, in any order."""
    rows = list(RefreshTarget.objects.all())
    random.Random(seed).shuffle(rows)
    judge(rows)


def test_changes_are_noted_while_others_judge_and_wake() -> None:
    row = cluster()
    record_table_changes([Change(one, Cause.EVENT, whole=True) for one in TABLES[:10]], now=at(0))
    judge_some(0)
    assert TargetFrontEnd.objects.filter(needs_refresh=True).exists()
    for turn in range(TURNS):
        noting = [partial(note, 10 * turn + n, at(turn)) for n in range(3)]
        judging, waking = partial(judge_some, turn), partial(rest_and_wake, row, at(turn))
        assert together(*noting, judging, waking, judging) == [""] * 6
    assert ChangedPartition.objects.filter(at=at(TURNS - 1)).exists()
