"""Pages of checks: which tables have them and which none, one table's rules, results, history."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from portal.ui.charts.figures import Chart
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import list_response
from quality.checks.domain.plan import metrics_of, reason_separate
from quality.checks.domain.rules import Rule
from quality.checks.domain.trials import try_rules
from quality.checks.selectors.check_sets import (
    CheckSetFilter,
    HistoryFilter,
    OneRuleFilter,
    ResultFilter,
    check_sets_visible,
    get_check_set_for_user,
    get_result_for_user,
    get_rule,
    history_of,
    last_outcomes,
    results_of,
)
from quality.checks.selectors.coverage import CoverageFilter, tables_without_checks
from quality.checks.selectors.readings import readings_of
from quality.checks.services.requests import open_run_of
from quality.checks.services.samples import sample_of, sample_read
from quality.checks.ui.charts import trend_chart
from quality.checks.ui.tables import COVERAGE, HISTORY, OF_RULE, RESULTS, SETS, rule_url
from quality.models import CheckSet

_DRAWN = 4


@require_GET
def checks(request: HttpRequest) -> HttpResponseBase:
    """List the tables with checks that the person may see."""
    lake, user = current_lake(request), person(request)
    filterset = CheckSetFilter(request.GET, queryset=check_sets_visible(lake, user))
    return list_response(request, SETS, filterset=filterset, context={})


@require_GET
def check_set(request: HttpRequest, set_id: int) -> HttpResponseBase:
    """Show one table's rules and their results, newest first."""
    found = get_check_set_for_user(set_id, person(request))
    filterset = ResultFilter(request.GET, queryset=results_of(found))
    context: dict[str, object] = {"found": found}
    if request.GET.get("format") != "csv":
        rules = rules_of(found)
        metrics = metrics_of(one.rule for one in rules)
        separate = [(one.label, reason_separate(one)) for one in metrics]
        context |= {
            "rules": rules,
            "document": found.document,
            "separate": [one for one in separate if one[1]],
            "run": open_run_of(found),
            "charts": charts_of(found, rules),
        }
    return list_response(request, RESULTS, filterset=filterset, context=context)


@require_GET
def check_rule(request: HttpRequest, set_id: int, rule: str) -> HttpResponseBase:
    """Show how a rule's metric went with its bounds, and list its results."""
    found = get_check_set_for_user(set_id, person(request))
    asked = get_rule(found, rule)
    filterset = OneRuleFilter(request.GET, queryset=results_of(found).filter(rule=rule))
    context: dict[str, object] = {"found": found, "rule": asked}
    if request.GET.get("format") != "csv":
        (tried,) = try_rules([asked], readings_of(found, [asked.measured]), now=timezone.now())
        context |= {"tried": tried, "chart": trend_chart(tried)}
    return list_response(request, OF_RULE, filterset=filterset, context=context)


@require_GET
def check_coverage(request: HttpRequest) -> HttpResponseBase:
    """List the tables that the person may see and that have no checks."""
    lake, user = current_lake(request), person(request)
    filterset = CoverageFilter(request.GET, queryset=tables_without_checks(lake, user))
    return list_response(request, COVERAGE, filterset=filterset, context={})


@require_GET
def check_samples(request: HttpRequest, result_id: int) -> HttpResponse:
    """Show rows that speak against a rule, to those who own the data; it is recorded."""
    user = person(request)
    found = get_result_for_user(result_id, user)
    sample = sample_read(found, user=user, now=timezone.now())
    rows = [list(zip(sample.columns, values, strict=True)) for values in sample.rows]
    context = {
        "result": found,
        "sample": sample,
        "rows": rows,
        "days": settings.LAKEWARDEN_CHECK_SAMPLE_DAYS,
    }
    return render(request, "readiness/check_samples.html", context)


@require_GET
def check_history(request: HttpRequest, set_id: int) -> HttpResponseBase:
    """List what was measured of one table."""
    found = get_check_set_for_user(set_id, person(request))
    filterset = HistoryFilter(request.GET, queryset=history_of(found))
    return list_response(request, HISTORY, filterset=filterset, context={"found": found})


@require_GET
def check_result(request: HttpRequest, result_id: int) -> HttpResponse:
    """Show what a rule says of one window, and its override."""
    user = person(request)
    found = get_result_for_user(result_id, user)
    override = getattr(found, "override", None)
    context = {
        "result": found,
        "override": override,
        "sample": sample_of(found, user=user),
        "rule_url": rule_url(found.check_set, found.rule),
        "may_ask": found.holds_back and override is None,
        "may_confirm": found.holds_back
        and override is not None
        and not override.holds
        and override.asked_by != user.username,
    }
    return render(request, "readiness/check_result.html", context)


@dataclass(frozen=True, slots=True)
class ShownRule:
    """A rule with its page, and how it came out in the last measurement."""

    rule: Rule
    url: str
    outcome: str
    """Empty: it was not measured then."""

    @property
    def badge(self) -> str:
        """How it came out, as pages show it."""
        return f"CHECK_{(self.outcome or 'new').upper()}"


def rules_of(found: CheckSet) -> list[ShownRule]:
    """Return the rules of a table as pages show them."""
    last = last_outcomes(found)
    return [
        ShownRule(one, rule_url(found, one.name), last.get(one.name, ""))
        for one in found.checks.rules
    ]


def charts_of(
    found: CheckSet, rules: Sequence[ShownRule], *, most: int = _DRAWN
) -> list[tuple[str, Chart]]:
    """Return the pictures of some rules, of those that did not pass first; the rest have pages."""
    order = {"failed": 0, "unknown": 1}
    drawn = sorted(rules, key=lambda one: order.get(one.outcome, len(order)))[:most]
    readings = readings_of(found, [one.rule.measured for one in drawn])
    tried = try_rules([one.rule for one in drawn], readings, now=timezone.now())
    charts = [trend_chart(one, f"trend-{n}") for n, one in enumerate(tried)]
    return [(one.url, chart) for one, chart in zip(drawn, charts, strict=True) if chart]
