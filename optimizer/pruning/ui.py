"""Pages of narrowing a query: the form with the last ones, and one query."""

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from optimizer.pruning.domain.queries import DIALECTS, MOST_TEXT
from optimizer.pruning.selectors import get_pruned_query, pruned_queries_of
from optimizer.pruning.services import DEFAULT_FILES, MOST_FILES, PruneRequest, prune_request
from portal.access.registry import Page, register_page
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import current_lake, person


class PruneForm(forms.Form):
    """A query to be narrowed."""

    sql = forms.CharField(
        label="Query",
        max_length=MOST_TEXT,
        strip=False,
        widget=forms.Textarea({"rows": 10, "class": "form-control font-monospace"}),
    )
    dialect = forms.ChoiceField(
        label="SQL dialect",
        choices=list(DIALECTS.items()),
        widget=forms.Select({"class": "form-select"}),
    )
    max_files = forms.IntegerField(
        label="Maximum number of files a table",
        min_value=1,
        max_value=MOST_FILES,
        initial=DEFAULT_FILES,
        widget=forms.NumberInput({"class": "form-control"}),
    )
    catalog = forms.CharField(
        label="Engine's catalog of this lake",
        max_length=200,
        required=False,
        help_text="Tables of other catalogs are read as before.",
        widget=forms.TextInput({"class": "form-control"}),
    )
    schema = forms.CharField(
        label="Default schema",
        max_length=200,
        required=False,
        help_text="For tables named without their database.",
        widget=forms.TextInput({"class": "form-control"}),
    )


@require_http_methods(["GET", "POST"])
def queries(request: HttpRequest) -> HttpResponse:
    """Take a query; one that is refused stays in the form with the reason."""
    user, lake = person(request), current_lake(request)
    form = PruneForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                wanted = PruneRequest(**form.cleaned_data)
                run = prune_request(lake, wanted, user=user, now=timezone.now())
            except RuleViolation as error:
                form.add_error("sql", error.message)
            else:
                return HttpResponseRedirect(reverse("optimizer:prune-query", args=[run.pk]))
    context = {"form": form, "queries": pruned_queries_of(lake, user)}
    return render(request, "optimizer/prune.html", context, status=status)


@require_GET
def query(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Show a query and what it was narrowed to; the page asks again while the run is under way."""
    run = get_pruned_query(run_id, user=person(request))
    found = run.result or {}
    shown = [
        {**one, "is_renamed": not one["table"].endswith(f".{one['alias']}")}
        for one in found.get("tables", [])
    ]
    context = {"run": run, "narrowed": found.get("sql"), "tables": shown}
    part = "optimizer/_pruned.html" if request.headers.get("HX-Request") else ""
    return render(request, part or "optimizer/pruned.html", context)


def register_pages() -> None:
    """Add the navigation."""
    also = frozenset({"optimizer:rewrite"})
    register_page(Page("services", "Queries", "optimizer:prune", 50, also=also))
