"""The dialog in which exceptions from several path rules are requested for one table or database.

It opens in the row of a violation; without JavaScript it is a page of its own. Both lead back.
"""

from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from lifecycle.core.ui.badges import reason_word
from lifecycle.core.ui.links import list_url
from lifecycle.policies.services.exceptions import ExceptionParams, exception_request
from lifecycle.rules.domain.conformity import Reason
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.lake.errors import PortalError
from portal.ui.frame.addresses import back_or, own_address
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.filters import DayInput

DAYS_OFFERED = 90


def _rules() -> list[tuple[str, str]]:
    return [(one.value, f"{one.value}: {reason_word(one)}") for one in Reason]


class ExceptionsForm(forms.Form):
    """Rules that shall not count for a table or database, until a day."""

    db = forms.CharField(max_length=128, widget=forms.HiddenInput())
    table = forms.CharField(max_length=256, required=False, widget=forms.HiddenInput())
    next = forms.CharField(required=False, widget=forms.HiddenInput())
    rule = forms.MultipleChoiceField(
        label="Rules",
        choices=_rules,
        widget=forms.CheckboxSelectMultiple({"class": "form-check-input"}),
        error_messages={"required": "Tick at least one rule."},
    )
    until = forms.DateField(label="Last day", widget=DayInput())
    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        error_messages={"required": "Enter a reason; admins read it."},
        widget=forms.Textarea(attrs={"class": "form-control", "rows": 2}),
    )

    def narrow(self, rules: list[str]) -> None:
        """Offer these rules only, where any of them is one."""
        offered = [choice for choice in _rules() if choice[0] in rules]
        if offered:
            self.fields["rule"].choices = offered  # type: ignore[attr-defined]  # of a choice field


@require_http_methods(["GET", "POST"])
def exception_ask(request: HttpRequest) -> HttpResponse:
    """Show the form with the violated rules ticked (GET), and request each exception (POST)."""
    lake = current_lake(request)
    offered = request.GET.getlist("rule") or request.POST.getlist("rule")
    if request.method == "POST":
        form = ExceptionsForm(request.POST)
        if form.is_valid() and _request(request, lake, form):
            return HttpResponseRedirect(back_or(request, list_url("paths", lake)))
    else:
        form = ExceptionsForm(initial=_initial(request, lake))
    form.narrow(offered)
    back = request.POST.get("next") or request.GET.get("next", "")
    context = {
        "form": form,
        "name": ".".join(filter(None, (_said(request, "db"), _said(request, "table")))),
        "back": own_address(request, back) if back else list_url("paths", lake),
    }
    template = "lifecycle/_exception_form.html"
    if not request.headers.get("HX-Request"):
        template = "lifecycle/exception_ask.html"
    return render(request, template, context, status=400 if form.errors else 200)


def _said(request: HttpRequest, name: str) -> str:
    return request.POST.get(name) or request.GET.get(name, "")


def _initial(request: HttpRequest, lake: str) -> dict[str, Any]:
    today = day_of(timezone.now(), get_lake(lake).zone)
    said = {name: request.GET.get(name, "") for name in ("db", "table", "next")}
    until = today + timedelta(days=DAYS_OFFERED)
    return {**said, "rule": request.GET.getlist("rule"), "until": until.isoformat()}


def _request(request: HttpRequest, lake: str, form: ExceptionsForm) -> bool:
    """Request an exception from each rule; True where at least one is requested."""
    asked, problems = [], []
    for rule in form.cleaned_data["rule"]:
        try:
            _request_one(lake, rule, form.cleaned_data, person(request))
            asked.append(rule)
        except PortalError as error:
            problems.append(error.message)
    for problem in problems:
        if asked:
            messages.warning(request, problem)
        else:
            form.add_error(None, problem)
    if asked:
        rules = " and ".join(asked)
        name = ".".join(filter(None, (form.cleaned_data["db"], form.cleaned_data["table"])))
        said = f"Requested for {name}: an exception from {rules}. An admin has to approve."
        messages.success(request, said)
    return bool(asked)


def _request_one(lake: str, rule: str, data: dict[str, Any], user: User) -> None:
    until: date = data["until"]
    wish = ExceptionParams(data["db"], data["table"], rule, until, data["reason"])
    exception_request(lake, wish, user=user, now=timezone.now())
