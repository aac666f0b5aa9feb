"""Check sets are set, measured and judged; a blocking rule keeps its period from being ready."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from portal.access.lakes import get_lake
from portal.audit.models import AuditEvent
from portal.catalog.services.source_comparisons import SourceComparison, register_comparisons
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotAllowed, NotVisible, PortalError, StaleState
from portal.lake.names import TableName
from portal.lake.readiness import FLAG
from portal.runs.models import Run
from quality.checks.domain.messages import Measured, MetricValue, WindowValues, read_request
from quality.checks.selectors.check_sets import last_outcomes, with_badge
from quality.checks.services.declaring import checks_delete, checks_pause
from quality.checks.services.from_comparisons import OLDEST
from quality.checks.services.overrides import override_ask, override_confirm
from quality.checks.services.requests import check_request, checks_due, request_of
from quality.checks.services.results import KEPT, results_take, results_trim, runs_failed
from quality.freshness.domain.cadence import TimeFormat
from quality.freshness.services.declaring import Declared, rule_declare
from quality.freshness.services.inspection import look_at
from quality.models import CheckSet, ExpectedPartition, FreshnessRule, Measurement, RuleResult
from tests.component.conftest import People
from tests.component.quality.checks.checked import DOCUMENT, WINDOW, declare, measure, values, wrote
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
AFTER = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
OTHER = DOCUMENT.replace("min: 5", "min: 6")


def test_who_sees_a_table_sets_its_checks_and_nobody_else(hive: FlagLake, people: People) -> None:
    with pytest.raises(NotVisible):
        declare(people.stranger, NOW)
    row = declare(people.owner, NOW)
    assert (row.owner, row.set_by, row.version) == ("olga", "olga", 0)
    assert declare(people.admin, NOW).pk == row.pk, "the same again changes nothing"
    with pytest.raises(StaleState):
        declare(people.admin, NOW, OTHER)
    assert declare(people.admin, NOW, OTHER, version=0).version == 1
    for _ in range(2):
        checks_pause(row, paused=True, user=people.owner, now=NOW)
    with pytest.raises(StaleState):
        checks_delete(row, version=0, user=people.owner, now=NOW)
    for _ in range(2):
        checks_delete(row, version=1, user=people.owner, now=NOW)
    actions = list(AuditEvent.objects.order_by("seq").values_list("action", flat=True))
    assert actions == ["checks.set", "checks.set", "checks.paused", "checks.deleted"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (DOCUMENT.replace("notes", "nope"), "readiness.table"),
        (DOCUMENT.replace("metric: row_count", "metric: rows"), "checks.document"),
        (DOCUMENT.replace("column: id, ", ""), "checks.rule"),
        ("rules: [", "checks.document"),
    ],
)
def test_what_cannot_be_checked_says_why(
    hive: FlagLake, people: People, text: str, code: str
) -> None:
    with pytest.raises(PortalError) as refused:
        declare(people.admin, NOW, text)
    assert refused.value.code == code
    assert not CheckSet.objects.exists()


def test_sets_that_are_due_are_measured_in_one_run(hive: FlagLake, people: People) -> None:
    hive.names["notes"] = [f"dt=2026-11-{day}" for day in range(10, 22)]
    first = declare(people.admin, NOW)
    declare(people.admin, NOW, "table: shop.shops\nrules: [{metric: row_count, min: 1}]")
    assert checks_due("main", now=NOW) == 2
    assert checks_due("main", now=NOW + timedelta(hours=2)) == 0, "one has not ended"
    run = Run.objects.get(kind="quality.check")
    tasks = {one.table: one for one in read_request(request_of(run)).tasks}
    windows = [one.value for one in tasks["notes"].windows]
    assert windows == ["2026-11-21", "2026-11-20", "2026-11-19"]
    assert [one.value for one in tasks["shops"].windows] == [""]
    Run.objects.update(finished_at=NOW)
    assert checks_due("main", now=NOW + timedelta(minutes=59)) == 0
    checks_pause(first, paused=True, user=people.admin, now=NOW)
    assert checks_due("main", now=NOW + timedelta(hours=1)) == 1, "a paused one is left out"
    asked = check_request(first, windows=["2026-01-01"], by="olga", now=NOW)
    (task,) = read_request(request_of(asked)).tasks
    assert [one.value for one in task.windows] == ["2026-01-01"]
    assert check_request(first, by="olga", now=NOW).pk == asked.pk, "it waits already"


def test_a_table_that_is_gone_says_so_and_stops_no_other(hive: FlagLake, people: People) -> None:
    hive.names["notes"] = ["dt=2026-11-21"]
    row, _ = declare(people.admin, NOW), checks_due("main", now=NOW)
    gone = CheckSet.objects.create(
        lake="main", db="shop", table="nope", document=row.document, set_at=NOW, next_at=NOW
    )
    run = Run.objects.get(kind="quality.check")
    run.params = {"sets": [row.pk, gone.pk], "windows": []}
    assert [one.id for one in read_request(request_of(run)).tasks] == [row.pk]
    gone.refresh_from_db()
    assert gone.problem == "The metastore has the table no more."


def test_what_was_measured_is_judged_once(hive: FlagLake, people: People) -> None:
    row = declare(people.admin, NOW)
    run = check_request(row, by="olga", now=NOW)
    for _ in range(2):
        assert measure(row, run, AFTER, 4, None, reason="column_gone") == 1
    found = {one.rule: one.outcome for one in RuleResult.objects.all()}
    assert found == {"enough": "failed", "no_nulls": "unknown"}
    assert Measurement.objects.count() == 2
    assert "row_count is 4, below the minimum of 5" in RuleResult.objects.get(rule="enough").text
    measure(row, check_request(row, windows=[WINDOW], by="x", now=NOW), NOW, 9)
    assert RuleResult.objects.get(rule="enough").value == 4, "an older one comes too late"
    wrote(run, Measured(row.pk, "failed", AFTER, reason="failed", note="It is broken."))
    results_take(run)
    row.refresh_from_db()
    assert row.problem == "It is broken."
    declare(people.admin, NOW, OTHER, version=0)
    assert [one.rule for one in RuleResult.objects.all()] == ["no_nulls"], "it was changed"
    assert results_trim("main", now=AFTER + KEPT) == 0
    assert results_trim("main", now=AFTER + KEPT + timedelta(seconds=1)) == 3


def look(now: datetime) -> ExpectedPartition:
    with Metastore.connect(get_lake("main")) as metastore:
        look_at(FreshnessRule.objects.get(), metastore, now=now)
    return ExpectedPartition.objects.get(spec=f"dt={WINDOW}")


def test_a_period_that_waited_for_its_check_is_looked_at_as_soon_as_it_passed(
    hive: FlagLake, people: People
) -> None:
    name = f"dt={WINDOW}"
    hive.names["notes"] = [name]
    hive.parameters[name] = {"note": "stays", FLAG: "false"}
    what = Declared("dt", TimeFormat.DAY, delay_minutes=0)
    rule_declare("main", "shop.notes", what, version=None, user=people.owner, now=NOW)
    row = declare(people.owner, NOW)
    run = check_request(row, by="olga", now=NOW)
    measure(row, run, AFTER, 4)
    look(AFTER)
    later = FreshnessRule.objects.get().look_at
    assert later > AFTER
    measure(row, run, AFTER + timedelta(seconds=9), 4)
    assert FreshnessRule.objects.get().look_at == later, "it failed again"
    measure(row, run, AFTER + timedelta(seconds=10), 9)
    assert FreshnessRule.objects.get().look_at == AFTER + timedelta(seconds=10)
    assert look(AFTER + timedelta(minutes=1)).standing == "READY"


def test_a_blocking_rule_keeps_a_period_unready_until_two_people_override_it(
    hive: FlagLake, people: People
) -> None:
    name = f"dt={WINDOW}"
    hive.names["notes"] = [name]
    hive.parameters[name] = {"note": "stays", FLAG: "false"}
    what = Declared("dt", TimeFormat.DAY, delay_minutes=0)
    rule_declare("main", "shop.notes", what, version=None, user=people.owner, now=NOW)
    row = declare(people.owner, NOW)
    run = check_request(row, by="olga", now=NOW)
    measure(row, run, NOW, 9)
    assert "check enough was not measured since its end" in look(AFTER).reason
    measure(row, run, AFTER, 4)
    stands = look(AFTER)
    assert (stands.standing, stands.reason) == ("UNREADY", "The rule waits: check enough failed.")
    result = RuleResult.objects.get(rule="enough")
    with pytest.raises(PortalError):
        override_ask(result, reason=" ", user=people.owner, now=AFTER)
    with pytest.raises(StaleState):
        override_confirm(result, user=people.admin, now=AFTER)
    override_ask(result, reason="a quiet day", user=people.owner, now=AFTER)
    with pytest.raises(NotAllowed):
        override_confirm(result, user=people.owner, now=AFTER)
    assert look(AFTER).standing == "UNREADY", "one person is not enough"
    override_confirm(result, user=people.admin, now=AFTER)
    measure(row, run, AFTER + timedelta(minutes=1), 3)
    assert look(AFTER).standing == "UNREADY", "it is another value than what was overridden"
    result = RuleResult.objects.get(rule="enough")
    override_ask(result, reason="a quiet day", user=people.admin, now=AFTER)
    for _ in range(2):
        override_confirm(result, user=people.owner, now=AFTER)
    measure(row, run, AFTER + timedelta(minutes=2), 3)
    assert look(AFTER).standing == "READY", "the same value stays overridden"
    with pytest.raises(StaleState):
        override_ask(
            RuleResult.objects.get(rule="no_nulls"), reason="x", user=people.owner, now=NOW
        )


def test_a_rule_that_only_alarms_and_one_that_passed_hold_nothing_back(
    hive: FlagLake, people: People
) -> None:
    name = f"dt={WINDOW}"
    hive.names["notes"] = [name]
    hive.parameters[name] = {"note": "stays", FLAG: "false"}
    what = Declared("dt", TimeFormat.DAY, delay_minutes=0)
    rule_declare("main", "shop.notes", what, version=None, user=people.owner, now=NOW)
    row = declare(people.owner, NOW)
    measure(row, check_request(row, by="olga", now=NOW), AFTER, 5, 7)
    assert RuleResult.objects.get(rule="no_nulls").outcome == "failed"
    assert look(AFTER).standing == "READY"


def test_windows_of_one_run_are_compared_with_each_other(hive: FlagLake, people: People) -> None:
    rule = "{metric: row_count, compare: {with: previous, min: -20%}}"
    text = f"table: shop.notes\npartition_key: dt\nrules: [{rule}]"
    row = declare(people.owner, NOW, text)
    run = check_request(row, by="olga", now=NOW)
    days = {"2026-11-21": 7, "2026-11-20": 10}
    windows = tuple(WindowValues(day, n, (MetricValue("row_count", n),)) for day, n in days.items())
    wrote(run, Measured(row.pk, "done", AFTER, windows))
    results_take(run)
    found = {one.window: one.outcome for one in RuleResult.objects.all()}
    assert found == {"2026-11-21": "failed", "2026-11-20": "unknown"}


def test_results_of_many_windows_are_written_by_few_statements(
    hive: FlagLake, people: People, django_assert_max_num_queries: Any
) -> None:
    row = declare(people.owner, NOW)
    run = check_request(row, by="olga", now=NOW)
    days = [str((NOW - timedelta(days=n)).date()) for n in range(90)]
    for n_rows in (9, 4):
        found = tuple(WindowValues(day, n_rows, values(n_rows, 0)) for day in days)
        wrote(run, Measured(row.pk, "done", AFTER, found))
        with django_assert_max_num_queries(36):  # half of them open an incident
            results_take(run)
    assert Measurement.objects.filter(metric="row_count", value=4).count() == len(days)
    assert RuleResult.objects.filter(outcome="failed", value=4).count() == len(days)


COMPARED = """
table: shop.notes
partition_key: dt
rules:
  - {name: same, metric: source_differences, max: 0, severity: block}
"""


def test_a_captured_table_is_judged_by_the_last_comparison_with_its_source(
    hive: FlagLake, people: People
) -> None:
    hive.names["notes"] = [f"dt={WINDOW}"]
    row = declare(people.owner, NOW, COMPARED)
    run = check_request(row, by="olga", now=NOW)
    assert read_request(request_of(run)).tasks[0].metrics == ()
    last: dict[TableName, SourceComparison | None] = {}
    register_comparisons("test", last.get)
    rows = (MetricValue("row_count", 1),)
    known_at = AFTER - timedelta(hours=1)
    for found, outcome, of in (
        (None, "unknown", None),
        (SourceComparison(None), "unknown", None),
        (SourceComparison(AFTER - OLDEST - timedelta(seconds=1)), "unknown", None),
        (SourceComparison(known_at, 3), "failed", known_at),
        (SourceComparison(known_at, 0), "passed", known_at),
    ):
        last[row.hive] = found
        wrote(run, Measured(row.pk, "done", AFTER, (WindowValues(WINDOW, 1, rows),)))
        results_take(run)
        result = RuleResult.objects.get()
        assert (result.outcome, result.judged_at, result.known_at) == (outcome, AFTER, of)
        shown = vars(with_badge(CheckSet.objects.all()).get())
        assert shown["badge"] == f"CHECK_{outcome.upper()}"
        assert last_outcomes(CheckSet.objects.get()) == {"same": outcome}
    what = Declared("dt", TimeFormat.DAY, delay_minutes=0)
    rule_declare("main", "shop.notes", what, version=None, user=people.owner, now=NOW)
    hive.parameters[f"dt={WINDOW}"] = {FLAG: "false"}
    RuleResult.objects.update(known_at=NOW)
    assert "check same was not measured since its end" in look(AFTER).reason
    register_comparisons("test", lambda _table: None)


READS_OTHERS = """
table: shop.notes
rules:
  - {name: known, metric: referential_rate, column: id, min: 1, other_table: shop.shops,
     other_column: id}
  - {name: less, metric: custom_sql, sql: "SELECT count(*) FROM shop.sales", max: 5}
"""


class Owners:
    """Makes a table of the lake somebody else's."""

    def __init__(self, hive: FlagLake, monkeypatch: pytest.MonkeyPatch) -> None:
        self._of: dict[str, str] = {}
        plain = hive.get_table

        def get_table(db: str, name: str) -> Any:
            table = plain(db, name)
            table.owner = self._of.get(name, table.owner)
            return table

        monkeypatch.setattr(hive, "get_table", get_table)

    def give(self, **owners: str) -> None:
        self._of |= owners


@pytest.fixture
def owners(hive: FlagLake, monkeypatch: pytest.MonkeyPatch) -> Owners:
    return Owners(hive, monkeypatch)


def test_rules_read_only_tables_that_who_set_them_may_see(
    hive: FlagLake, people: People, owners: Owners
) -> None:
    for name in ("shops", "sales"):
        owners.give(**{name: "someone"})
        with pytest.raises(PortalError, match=f"shop.{name}") as refused:
            declare(people.owner, NOW, READS_OTHERS)
        assert refused.value.code == "checks.other_table"
        owners.give(**{name: "olga"})
    with pytest.raises(PortalError, match="no table in the lake that olga may see"):
        declare(people.owner, NOW, READS_OTHERS.replace("shop.sales", "other.sales"))

    row = declare(people.owner, NOW, READS_OTHERS)
    run = check_request(row, by="olga", now=NOW)
    (task,) = read_request(request_of(run)).tasks
    assert task.databases == ("shop",)
    # It was set while she saw it; what is read now is read with the rights of now.
    owners.give(sales="someone")
    assert read_request(request_of(run)).tasks == ()
    row.refresh_from_db()
    assert "'less' reads shop.sales" in row.problem
    owners.give(sales="olga", notes="dana")
    people.owner.is_active = False
    people.owner.save()
    assert read_request(request_of(run)).tasks == ()
    row.refresh_from_db()
    assert "has no account any more" in row.problem


def test_a_table_that_changed_hands_is_its_new_owners(
    hive: FlagLake, people: People, owners: Owners
) -> None:
    hive.names["notes"] = [f"dt={WINDOW}"]
    row = declare(people.admin, NOW)
    assert row in CheckSet.objects.for_user(people.owner)
    owners.give(notes=people.stranger.username)
    request_of(check_request(row, by="x", now=NOW))
    assert row in CheckSet.objects.for_user(people.stranger)
    assert row not in CheckSet.objects.for_user(people.owner)


def test_a_pass_counts_no_more_once_the_table_cannot_be_measured(
    hive: FlagLake, people: People
) -> None:
    name = f"dt={WINDOW}"
    hive.names["notes"] = [name]
    hive.parameters[name] = {"note": "stays", FLAG: "false"}
    what = Declared("dt", TimeFormat.DAY, delay_minutes=60 * 48)
    rule_declare("main", "shop.notes", what, version=None, user=people.owner, now=NOW)
    row = declare(people.owner, NOW)
    run = check_request(row, by="olga", now=NOW)
    measure(row, run, AFTER, 9)
    late = AFTER + timedelta(days=3)
    later = AFTER + timedelta(hours=1)
    Run.objects.update(queued_at=later)
    run.refresh_from_db()
    assert runs_failed(run, "Spark died.", now=later) == 1
    assert "check enough could not be measured again" in look(late).reason
    assert runs_failed(run, "Spark died.", now=later) == 0, "it is said once"
    measure(row, run, later + timedelta(hours=1), 9)
    row.refresh_from_db()
    assert (row.problem, look(late).standing) == ("", "READY")


def test_only_so_many_runs_of_a_table_wait(hive: FlagLake, people: People) -> None:
    row = declare(people.owner, NOW)
    for day in range(10, 20):
        check_request(row, windows=[f"2026-01-{day}"], by="olga", now=NOW)
    with pytest.raises(PortalError) as refused:
        check_request(row, windows=[WINDOW], by="olga", now=NOW)
    assert refused.value.code == "checks.running"
