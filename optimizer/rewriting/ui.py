"""The page of answering a query from aggregates: the form, and both texts side by side.

A link may fill the form in. Nothing that is given is stored: while tables are read the page sends
its form again by itself.
"""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from optimizer.matching.domain.reading import DIALECTS, MOST_TEXT
from optimizer.rewriting.domain.answers import MOST_FILES
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.services.answering import (
    MOST_AGE_SECONDS,
    MOST_FILES_LISTED,
    MOST_LAG_SECONDS,
    Asked,
    Rewriting,
    rewrite_query,
)
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import current_lake, person


class RewriteForm(forms.Form):
    """A query to be answered from cubes."""

    sql = forms.CharField(
        label="Query",
        max_length=MOST_TEXT,
        strip=False,
        widget=forms.Textarea({"rows": 6, "class": "form-control font-monospace"}),
    )
    dialect = forms.ChoiceField(
        label="SQL dialect",
        choices=list(DIALECTS.items()),
        widget=forms.Select({"class": "form-select"}),
    )
    schema = forms.CharField(
        label="Default database",
        required=False,
        max_length=255,
        widget=forms.TextInput({"class": "form-control"}),
    )
    time_zone = forms.CharField(
        label="Session time zone (Spark)",
        required=False,
        max_length=64,
        widget=forms.TextInput({"class": "form-control", "placeholder": "UTC"}),
    )
    max_files = forms.IntegerField(
        label="Maximum number of files read beside cubes",
        min_value=1,
        max_value=MOST_FILES_LISTED,
        initial=MOST_FILES,
        widget=forms.NumberInput({"class": "form-control"}),
    )
    max_age = forms.IntegerField(
        label="Maximum age of snapshots, in seconds",
        min_value=0,
        max_value=MOST_AGE_SECONDS,
        initial=0,
        widget=forms.NumberInput({"class": "form-control"}),
    )
    max_lag = forms.IntegerField(
        label="Maximum age of materializations behind their tables, in seconds",
        required=False,
        min_value=0,
        max_value=MOST_LAG_SECONDS,
        widget=forms.NumberInput({"class": "form-control", "placeholder": "as each one says"}),
    )


@require_http_methods(["GET", "POST"])
def query(request: HttpRequest) -> HttpResponse:
    """Take a query; one that is refused stays in the form with the reason."""
    form = RewriteForm(request.POST or None, initial=request.GET.dict())
    found, status = None, 200
    if request.method == "POST":
        found = _rewritten(request, form) if form.is_valid() else None
        status = 200 if found is not None else 400
    context = {"form": form, "found": found, "answer": found.answer if found else None}
    return render(request, "optimizer/rewrite.html", context, status=status)


def _rewritten(request: HttpRequest, form: RewriteForm) -> Rewriting | None:
    given = form.cleaned_data
    session = Session(given["dialect"], given["schema"], time_zone=given["time_zone"])
    limits = {name: given[name] for name in ("max_files", "max_age", "max_lag")}
    asked = Asked.of(given["sql"], session, **limits)
    try:
        return rewrite_query(current_lake(request), asked, user=person(request), now=timezone.now())
    except RuleViolation as error:
        form.add_error("sql", error.message)
        return None
