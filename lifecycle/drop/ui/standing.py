"""The pages of standing rules: the list, one rule, and the steps people take."""

from datetime import date
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from lifecycle.drop.selectors.standing import get_rule_for_user, plans_of_rule, rules_visible
from lifecycle.drop.services.standing_rules import (
    RULES,
    RuleParams,
    rule_terms,
    standing_rule_end,
    standing_rule_request,
)
from lifecycle.models import StandingRule, StandingRuleState
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.filters import DayInput
from portal.ui.lists.keyset import keyset_page
from portal.ui.proposals import decide_page, proposal_context, reasoned_page

GIB = 1024**3
PLANS_SHOWN = 20


class RuleForm(forms.Form):
    """What a standing rule says."""

    db = forms.CharField(label="Database", max_length=128)
    table = forms.CharField(label="Table", max_length=256)
    max_items_day = forms.IntegerField(label="Items a day, at most", min_value=1)
    max_gib_day = forms.IntegerField(label="GiB a day, at most", min_value=1, max_value=10**6)
    until = forms.DateField(label="Last day (within 90 days)", widget=DayInput())
    reason = forms.CharField(label="Reason", max_length=1000)

    def wish(self) -> RuleParams:
        """Return what was said."""
        data = self.cleaned_data
        until: date = data["until"]
        return RuleParams(
            db=data["db"],
            table=data["table"],
            max_items_day=data["max_items_day"],
            max_bytes_day=data["max_gib_day"] * GIB,
            until=until,
            reason=data["reason"],
        )


def rule_url(rule: StandingRule) -> str:
    """Return the page of a rule."""
    return reverse("lifecycle:standing-rule", args=[rule.pk])


@require_GET
def rules(request: HttpRequest) -> HttpResponse:
    """List the standing rules that the person may see."""
    initial = {key: request.GET.get(key, "") for key in ("db", "table")}
    return _page(request, RuleForm(initial=initial))


@require_POST
def rule_new(request: HttpRequest) -> HttpResponse:
    """Ask two people for a standing rule."""
    form = RuleForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=400)
    rule = standing_rule_request(
        current_lake(request), form.wish(), user=person(request), now=timezone.now()
    )
    messages.success(request, "Requested. Two other admins have to approve it.")
    return HttpResponseRedirect(rule_url(rule))


def _page(request: HttpRequest, form: RuleForm, *, status: int = 200) -> HttpResponse:
    lake, user = current_lake(request), person(request)
    page = keyset_page(
        rules_visible(lake, user), request.GET, orders={"-created": ("-created_at",)}
    )
    context = {"page": page, "form": form, "may_make": user.is_lake_staff_of(lake)}
    return render(request, "lifecycle/standing_rules.html", context, status=status)


@require_GET
def rule(request: HttpRequest, rule_id: UUID) -> HttpResponse:
    """Show one rule with the plans it made."""
    user = person(request)
    found = get_rule_for_user(rule_id, user=user)
    context = {
        "rule": found,
        "basis": rule_terms(found).basis,
        **proposal_context(RULES, found, user, decide="lifecycle:standing-rule-decide"),
        "plans": plans_of_rule(found, user)[:PLANS_SHOWN],
        "is_open": found.state in (StandingRuleState.PENDING, StandingRuleState.ACTIVE),
    }
    return render(request, "lifecycle/standing_rule.html", context)


rule_decide = decide_page(RULES, rule_url)
rule_end = reasoned_page(
    standing_rule_end,
    rule_url,
    done="The rule has ended. Later drops of this table need their own yes.",
)
