"""The pages of declarations: which tables have a time or a rule, one of them, declaring, ending."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from portal.lake.errors import PortalError, StaleState
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from quality.freshness.selectors.rules import (
    RULE_ORDERS,
    RuleFilter,
    get_rule_for_user,
    recent_activity_of,
    rules_visible,
)
from quality.freshness.services.declaring import rule_declare, rule_end
from quality.freshness.ui.charts import ready_chart
from quality.freshness.ui.forms import EndForm, NewRuleForm, RuleForm
from quality.models import FreshnessRule

_SHOWN = 20


def rule_url(row: FreshnessRule) -> str:
    """Return the page of a table."""
    return reverse("readiness:rule", args=[row.pk])


def _cell(title: str, name: str, *, is_wide: bool = False) -> Column:
    template = f"readiness/_cell_{name}.html"
    return Column(key="", title=title, kind="template", template=template, is_wide=is_wide)


RULES = ListSpec(
    template="readiness/rules.html",
    caption="Tables with a time or a rule",
    columns=(
        Column(key="__str__", title="Table", sort="table", url=rule_url),
        Column(key="owner", title="Owner"),
        _cell("Partitions", "cadence"),
        _cell("Latest after its end", "sla"),
        _cell("Marked ready by", "sets", is_wide=True),
        Column(key="inspected_at", title="Checked", kind="ago"),
        Column(key="problem", title="Problem", is_wide=True),
    ),
    orders=RULE_ORDERS,
    filename="ready-rules.csv",
    exports=(
        "lake", "db", "table", "owner", "time_key", "time_format", "hour_key", "sla_minutes",
        "delay_minutes", "min_rows", "min_files", "source_tables",
        "set_by", "set_at", "inspected_at", "problem",
    ),
)  # fmt: skip


@require_GET
def rules(request: HttpRequest) -> HttpResponseBase:
    """List the tables with a time or a rule that the person may see."""
    visible = rules_visible(current_lake(request), person(request))
    filterset = RuleFilter(request.GET, queryset=visible)
    return list_response(request, RULES, filterset=filterset, context={})


@require_http_methods(["GET", "POST"])
def rule_new(request: HttpRequest) -> HttpResponse:
    """Declare for a table."""
    lake = current_lake(request)
    form = NewRuleForm(request.POST or None, initial={"table": request.GET.get("table", "")})
    if form.is_valid():
        made = _declared(request, form, lake=lake, table=form.cleaned_data["table"])
        if made is not None:
            return HttpResponseRedirect(rule_url(made))
    context = {"form": form, "lake": lake}
    return render(request, "readiness/rule_new.html", context, status=form.status)


@require_http_methods(["GET", "POST"])
def rule(request: HttpRequest, rule_id: int) -> HttpResponse:
    """Show one table's last periods against its time, or change what is declared."""
    found = get_rule_for_user(rule_id, person(request))
    form = RuleForm(request.POST) if request.method == "POST" else RuleForm.of(found)
    if form.is_valid():
        made = _declared(request, form, lake=found.lake, table=str(found))
        if made is not None:
            return HttpResponseRedirect(rule_url(made))
    rows = recent_activity_of(found)
    context: dict[str, Any] = {
        "rule": found,
        "form": form,
        "rows": rows[:_SHOWN],
        "chart": ready_chart(found, rows),
    }
    return render(request, "readiness/rule.html", context, status=form.status)


@require_POST
def rule_end_view(request: HttpRequest, rule_id: int) -> HttpResponseRedirect:
    """Forget what was declared for a table."""
    user = person(request)
    found = get_rule_for_user(rule_id, user)
    form = EndForm(request.POST)
    version = form.cleaned_data["version"] if form.is_valid() else None
    rule_end(found, version=version, user=user, now=timezone.now())
    messages.success(request, f"Nothing is declared for {found} any more; flags stay as they are.")
    return HttpResponseRedirect(f"{reverse('readiness:rules')}?lake={found.lake}")


def _declared(
    request: HttpRequest, form: RuleForm, *, lake: str, table: str
) -> FreshnessRule | None:
    try:
        made = rule_declare(
            lake,
            table,
            form.declared(),
            version=form.cleaned_data["version"],
            user=person(request),
            now=timezone.now(),
        )
    except PortalError as error:
        form.refuse(error)
        form.is_stale = isinstance(error, StaleState)
        return None
    messages.success(request, f"Declared for {made}.")
    return made
