"""Queries of visible check sets with how they stand, of their results, and of what was measured."""

import django_filters as filters
from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Value, When

from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix
from quality.checks.domain.judge import Outcome
from quality.checks.domain.rules import Rule, Severity
from quality.models import CheckSet, CheckTrial, Measurement, RuleResult

SET_ORDERS = {"table": ("db", "table"), "-table": ("-db", "-table")}
RESULT_ORDERS = {
    "-window": ("-window",),
    "window": ("window",),
    "-judged": ("-judged_at",),
    "judged": ("judged_at",),
}
HISTORY_ORDERS = {"-measured": ("-measured_at",), "measured": ("measured_at",)}
STATES = [
    ("CHECK_FAILED", "Failed"),
    ("CHECK_UNKNOWN", "Not judged"),
    ("CHECK_PASSED", "Passed"),
    ("CHECK_PROBLEM", "Not measured"),
    ("CHECK_NEW", "Never measured"),
]
_WORSE: list[str] = [Outcome.PASSED, Outcome.UNKNOWN, Outcome.FAILED]
_OUTCOMES = [("failed", "Failed"), ("unknown", "Not judged"), ("passed", "Passed")]


class CheckSetFilter(ListFilter):
    """Check sets by table, state, and whether they are paused."""

    db = prefix("db", "Database")
    table = prefix("table", "Table")
    state = filters.ChoiceFilter(
        field_name="badge", choices=STATES, label="State", empty_label="Any"
    )
    paused = filters.ChoiceFilter(
        field_name="is_paused",
        choices=[("1", "Paused"), ("0", "Running")],
        label="Schedule",
        empty_label="Any",
    )

    class Meta:
        model = CheckSet
        fields: list[str] = []


class OneRuleFilter(ListFilter):
    """Results of one rule by window and outcome."""

    window = prefix("window", "Window")
    outcome = filters.ChoiceFilter(choices=_OUTCOMES, label="Result", empty_label="Any")

    class Meta:
        model = RuleResult
        fields: list[str] = []


class ResultFilter(OneRuleFilter):
    """Results by window, rule, outcome and severity."""

    rule = prefix("rule", "Rule")
    severity = filters.ChoiceFilter(
        choices=[(one.value, one.value.capitalize()) for one in Severity],
        label="Severity",
        empty_label="Any",
    )

    class Meta:
        model = RuleResult
        fields: list[str] = []


class HistoryFilter(ListFilter):
    """Measurements by metric and window."""

    metric = prefix("metric", "Metric")
    window = prefix("window", "Window")

    class Meta:
        model = Measurement
        fields: list[str] = []


def check_sets_visible(lake: str, user: User) -> QuerySet[CheckSet]:
    """Return the check sets of a lake that the person may see, each with its `badge`."""
    return with_badge(CheckSet.objects.for_user(user).filter(lake=lake))


def get_check_set_for_user(set_id: int, user: User) -> CheckSet:
    """Return one check set with its `badge`.

    Raises:
        NotVisible: `checks.set`, there is none for this person.
    """
    found = with_badge(CheckSet.objects.for_user(user)).filter(pk=set_id).first()
    if found is None:
        raise NotVisible("checks.set", "There are no such checks for you.", set=set_id)
    return found


def check_set_of_table(lake: str, db: str, table: str, *, user: User) -> CheckSet | None:
    """Return the checks of a table with their `badge`; None: there are none for this person."""
    return check_sets_visible(lake, user).filter(db=db, table=table).first()


def get_result_for_user(result_id: int, user: User) -> RuleResult:
    """Return one result of a rule.

    Raises:
        NotVisible: `checks.result`, there is none for this person.
    """
    rows = RuleResult.objects.filter(check_set__in=CheckSet.objects.for_user(user))
    found = rows.select_related("check_set", "override").filter(pk=result_id).first()
    if found is None:
        raise NotVisible("checks.result", "There is no such result for you.", result=result_id)
    return found


def get_trial_for_user(trial_id: int, user: User) -> CheckTrial:
    """Return one trial of a draft.

    Raises:
        NotVisible: `checks.trial`, there is none for this person.
    """
    found = CheckTrial.objects.for_user(user).filter(pk=trial_id).first()
    if found is None:
        raise NotVisible("checks.trial", "There is no such trial for you.", trial=trial_id)
    return found


def n_failing(lake: str, user: User) -> int:
    """Count the tables that the person may see whose last measurement has a rule that failed."""
    return check_sets_visible(lake, user).filter(Q(badge="CHECK_FAILED")).count()


def get_rule(row: CheckSet, name: str) -> Rule:
    """Return a rule of a table by its name.

    Raises:
        NotVisible: `checks.no_rule`, it has none of this name.
    """
    found = next((one for one in row.checks.rules if one.name == name), None)
    if found is None:
        raise NotVisible("checks.no_rule", f"{row} has no rule {name!r} any more.", rule=name)
    return found


def results_of(row: CheckSet) -> QuerySet[RuleResult]:
    """Return the results of a table's rules, each with its override."""
    return RuleResult.objects.filter(check_set=row).select_related("check_set", "override")


def last_outcomes(row: CheckSet) -> dict[str, str]:
    """Return how rules came out in the last measurement of a table, the worst of its windows."""
    found: dict[str, str] = {}
    if row.measured_at is None:
        return found
    results = row.results.filter(judged_at=row.measured_at)
    for rule, outcome in results.values_list("rule", "outcome").distinct():
        found[rule] = max(found.get(rule, outcome), outcome, key=_WORSE.index)
    return found


def history_of(row: CheckSet) -> QuerySet[Measurement]:
    """Return what was measured of a table, without what later commits are merged into."""
    return Measurement.objects.filter(check_set=row).defer("state")


def with_badge(rows: QuerySet[CheckSet]) -> QuerySet[CheckSet]:
    """Add how the last measurement of each came out: the worst of its results."""
    last = RuleResult.objects.filter(check_set=OuterRef("pk"), judged_at=OuterRef("measured_at"))
    worst = Case(
        When(measured_at=None, problem="", then=Value("CHECK_NEW")),
        When(problem__gt="", then=Value("CHECK_PROBLEM")),
        When(Exists(last.filter(outcome=Outcome.FAILED.value)), then=Value("CHECK_FAILED")),
        When(Exists(last.filter(outcome=Outcome.UNKNOWN.value)), then=Value("CHECK_UNKNOWN")),
        default=Value("CHECK_PASSED"),
        output_field=CharField(),
    )
    return rows.annotate(badge=worst)
