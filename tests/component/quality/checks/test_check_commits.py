"""A measurement goes on from the commit of the one before, with what was kept of just that."""

from datetime import UTC, datetime, timedelta

import pytest

from portal.catalog.services.table_commits import commits_noticed
from portal.events.registry import Missed
from quality.checks.domain.messages import Measured, MetricValue, Task, WindowValues, read_request
from quality.checks.domain.states import State
from quality.checks.services.commits import PAUSE, on_missed
from quality.checks.services.declaring import Timing, checks_pause
from quality.checks.services.requests import check_request, request_of
from quality.checks.services.results import results_take
from quality.models import CheckSet, Measurement
from tests.component.conftest import People
from tests.component.quality.checks.checked import DOCUMENT, WINDOW, declare, wrote
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
OLD = "2026-11-20"
ICEBERG = {"table_type": "ICEBERG"}
WHOLE = """
table: shop.notes
rules:
  - {name: enough, metric: row_count, min: 5}
"""


@pytest.fixture
def row(hive: FlagLake, people: People) -> CheckSet:
    hive.names["notes"] = [f"dt={WINDOW}", f"dt={OLD}"]
    hive.of_tables["notes"] = ICEBERG
    return declare(people.owner, NOW)


def asked(row: CheckSet, now: datetime, *windows: str) -> Task:
    """What the program is asked of a table; the run has ended then."""
    run = check_request(row, windows=windows, by="olga", now=now)
    (task,) = read_request(request_of(run)).tasks
    run.finished_at = now
    run.save()
    return task


def measured(
    row: CheckSet,
    at: datetime,
    commit: str,
    windows: dict[str, int],
    *,
    is_incremental: bool = False,
) -> None:
    run = check_request(row, by="olga", now=at)
    found = tuple(
        WindowValues(name, n, (MetricValue("row_count", n, state=State(n=n)),))
        for name, n in windows.items()
    )
    done = Measured(row.pk, "done", at, found, commit=commit, is_incremental=is_incremental)
    wrote(run, done)
    assert results_take(run) == 1
    run.finished_at = at
    run.save()


def test_states_of_the_last_commit_are_given_to_the_next_measurement(row: CheckSet) -> None:
    assert asked(row, NOW).earlier is None
    measured(row, NOW, "7", {WINDOW: 3, OLD: 9})
    measured(row, NOW + HOUR, "8", {WINDOW: 4}, is_incremental=True)
    task = asked(row, NOW + 2 * HOUR)
    assert task.earlier is not None
    assert (task.earlier.commit, task.touched) == ("8", True)
    assert task.earlier.states == {WINDOW: {"row_count": State(n=4)}}, "the other is of commit 7"
    row.refresh_from_db()
    assert (row.commit, row.how_read) == ("8", "Only rows of newer commits were read.")
    assert Measurement.objects.get(window=OLD).commit == "7"
    assert asked(row, NOW + 2 * HOUR, WINDOW).earlier is None, "named windows are read whole"


def test_a_table_that_says_so_is_measured_soon_after_a_commit(
    row: CheckSet, people: People
) -> None:
    later = NOW + HOUR
    CheckSet.objects.update(next_at=later + HOUR, measured_at=NOW)
    commits_noticed("main", [("shop", "notes"), ("shop", "shops")], now=later)
    assert CheckSet.objects.get().next_at == later + HOUR, "nobody asked for it"
    declare(people.owner, NOW, version=0, timing=Timing(60, on_commit=True))
    for measured_at, next_at in ((NOW, later), (later - MINUTE, later + PAUSE)):
        CheckSet.objects.update(next_at=later + HOUR, measured_at=measured_at)
        for _ in range(2):
            commits_noticed("main", [("shop", "notes"), ("shop", "shops")], now=later)
        assert CheckSet.objects.get().next_at == next_at
    CheckSet.objects.update(next_at=later + HOUR, measured_at=None)
    on_missed(Missed("main", "shop", "", "events were lost"), later)
    assert CheckSet.objects.get().next_at == later
    checks_pause(row, paused=True, user=people.owner, now=NOW)
    CheckSet.objects.update(next_at=later + HOUR)
    commits_noticed("main", [("shop", "notes")], now=later)
    assert CheckSet.objects.get().next_at == later + HOUR


def test_a_table_without_commits_is_always_read_whole(row: CheckSet, hive: FlagLake) -> None:
    measured(row, NOW, "", {WINDOW: 3})
    assert asked(row, NOW + HOUR).earlier is None
    measured(row, NOW + HOUR, "7", {WINDOW: 3})
    hive.of_tables["notes"] = {}
    assert asked(row, NOW + 2 * HOUR).earlier is None


def test_windows_of_another_key_are_other_rows(row: CheckSet, people: People) -> None:
    measured(row, NOW, "7", {WINDOW: 3})
    other = DOCUMENT.replace("partition_key: dt", "partition_key: day")
    declare(people.owner, NOW, other, version=row.version)
    row.refresh_from_db()
    assert set(Measurement.objects.values_list("commit", flat=True)) == {""}


def test_of_a_whole_table_the_last_day_counts(hive: FlagLake, people: People) -> None:
    hive.of_tables["notes"] = ICEBERG
    row = declare(people.owner, NOW, WHOLE)
    for day, n_rows in ((2, 5), (1, 4), (0, 3)):
        measured(row, NOW - timedelta(days=day), "7", {"": n_rows})
    task = asked(row, NOW + HOUR)
    assert task.earlier is not None
    assert task.earlier.states == {"": {"row_count": State(n=3)}}
