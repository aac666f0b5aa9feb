"""Who marks partitions as ready is held back by blocking rules, until they passed on its data."""

from datetime import UTC, datetime, timedelta

import pytest

from portal.access.lakes import get_lake
from portal.connectors.metastore import Metastore
from portal.lake.errors import StaleState
from quality.checks.domain.messages import Measured, WindowValues
from quality.checks.services.requests import check_request
from quality.checks.services.results import results_take, results_trim
from quality.freshness.domain.cadence import TimeFormat
from quality.freshness.services.declaring import Declared, rule_declare
from quality.freshness.services.inspection import look_at
from quality.models import ExpectedPartition, RuleResult
from quality.ready_flag.services.marking import Mark, partitions_mark
from tests.component.conftest import People
from tests.component.quality.checks.checked import DOCUMENT, WINDOW, declare, measure, values, wrote
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
AFTER = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)


def mark(*names: str, ready: bool = True, now: datetime = AFTER) -> int:
    said = Mark("main", "shop.notes", names, ready=ready)
    return partitions_mark(said, user=None, now=now).n_changed


def test_nobody_marks_as_ready_what_a_blocking_rule_holds_back(
    hive: FlagLake, people: People
) -> None:
    name, other = f"dt={WINDOW}", "dt=2026-11-20"
    hive.names["notes"] = [name, other]
    row = declare(people.owner, NOW)
    run = check_request(row, by="olga", now=NOW)
    mark(name, ready=False, now=NOW)
    with pytest.raises(StaleState, match="check enough was not measured"):
        mark(name)
    measure(row, run, NOW, 4)
    with pytest.raises(StaleState, match=r"dt=2026-11-20 .* with 1 more of them"):
        mark(name, other)
    with pytest.raises(StaleState, match="check enough failed") as refused:
        mark(name)
    assert refused.value.code == "readiness.held"
    assert hive.flags()[name] == "false"
    measure(row, run, AFTER, 9, 3)
    assert mark(name) == 1, "the other rule does not block"
    mark(name, ready=False)
    with pytest.raises(StaleState, match="was not measured"):
        mark(name)
    assert RuleResult.objects.get().rule == "no_nulls"


@pytest.mark.parametrize("text", [DOCUMENT, DOCUMENT.replace("partition_key: dt\n", "")])
def test_what_began_before_a_partition_was_taken_back_says_nothing_of_its_new_data(
    hive: FlagLake, people: People, text: str
) -> None:
    name = f"dt={WINDOW}"
    hive.names["notes"] = [name]
    row = declare(people.owner, NOW, text)
    run = check_request(row, by="olga", now=NOW)
    window = WINDOW if row.checks.partition_key else ""

    def measured(at: datetime) -> None:
        wrote(run, Measured(row.pk, "done", at, (WindowValues(window, 9, values(9, 0)),)))
        results_take(run)

    measured(NOW)
    mark(name, ready=False)
    assert [one.rule for one in RuleResult.objects.all()] == ["no_nulls"]
    measured(AFTER - timedelta(minutes=1))
    with pytest.raises(StaleState, match="check enough was not measured"):
        mark(name)
    measured(AFTER + timedelta(minutes=1))
    assert mark(name, now=AFTER + timedelta(minutes=2)) == 1
    assert results_trim("main", now=AFTER + timedelta(days=3)) == 1


@pytest.mark.parametrize("text", [DOCUMENT, DOCUMENT.replace("partition_key: dt\n", "")])
def test_a_partition_that_came_or_changed_after_its_measurement_is_held_back(
    hive: FlagLake, people: People, text: str
) -> None:
    """Its writer told nobody: the metastore alone knows of it."""
    name = f"dt={WINDOW}"
    hive.names["notes"] = [name]
    row = declare(people.owner, NOW, text)
    run = check_request(row, by="olga", now=NOW)
    window = WINDOW if row.checks.partition_key else ""

    def measured(at: datetime) -> None:
        wrote(run, Measured(row.pk, "done", at, (WindowValues(window, 9, values(9, 0)),)))
        results_take(run)

    measured(NOW)
    for known in (hive.made_at, hive.changed_at):
        known[name] = int(NOW.timestamp())
        with pytest.raises(StaleState, match="enough was not measured since the partition changed"):
            mark(name)
        known[name] -= 1
        mark(name)
    hive.made_at[name], hive.changed_at[name] = int(AFTER.timestamp()), 0
    with pytest.raises(StaleState, match="since the partition changed"):
        mark(name)
    measured(AFTER + timedelta(seconds=1))
    mark(name)
    hive.made_at[name], hive.changed_at[name] = 0, 0
    with pytest.raises(StaleState, match="nobody knows when the partition changed"):
        mark(name)


def test_the_rule_of_a_table_holds_back_what_changed_after_its_measurement(
    hive: FlagLake, people: People
) -> None:
    name = f"dt={WINDOW}"
    hive.names["notes"] = [name]
    row = declare(people.owner, NOW)
    run = check_request(row, by="olga", now=NOW)
    declared = Declared("dt", TimeFormat.DAY, delay_minutes=0)
    rule = rule_declare("main", "shop.notes", declared, version=None, user=people.owner, now=NOW)
    mark(name, ready=False, now=NOW)
    measure(row, run, AFTER, 9)
    hive.changed_at[name] = int(AFTER.timestamp()) + 60

    def looked(now: datetime) -> ExpectedPartition:
        with Metastore.connect(get_lake("main")) as metastore:
            look_at(rule, metastore, now=now)
        return ExpectedPartition.objects.get(spec=name)

    later = AFTER + timedelta(hours=1)
    assert "was not measured since the partition changed" in looked(later).reason
    measure(row, run, later, 9)
    assert looked(later + timedelta(minutes=1)).standing == "READY"
