"""Pages that keep and delete a person's views of the list of tables."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils import timezone
from django.views.decorators.http import require_POST

from portal.catalog.models import VIEW_NAME_CHARS
from portal.catalog.selectors import saved_views
from portal.catalog.services.saved_views import view_delete, view_save
from portal.lake.errors import RuleViolation
from portal.ui.frame.context import current_lake, person
from portal.ui.tables.addresses import tables_url
from portal.ui.tables.columns import cols_of

KEPT = ("level", "part", "db", "name", "table_format", "owner", "person", "sort", "cols")


class SaveForm(forms.Form):
    """The name of a view, and the list's query."""

    name = forms.CharField(label="Name of the view", max_length=VIEW_NAME_CHARS)
    query = forms.CharField(required=False, widget=forms.HiddenInput())


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Keep the filter that the list shows, and show the list under it."""
    lake, form = current_lake(request), SaveForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Enter a name of at most {VIEW_NAME_CHARS} characters.")
        return HttpResponseRedirect(_address(lake, request.POST.get("query", "")))
    query = kept_query(form.cleaned_data["query"])
    try:
        view_save(
            lake,
            user=person(request),
            name=form.cleaned_data["name"],
            query=query,
            now=timezone.now(),
        )
    except RuleViolation as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "The view is saved. Its address can be shared as it is.")
    return HttpResponseRedirect(_address(lake, query))


@require_POST
def delete(request: HttpRequest, view_id: int) -> HttpResponse:
    """Delete a view, and show the list that it kept."""
    gone = view_delete(view_id, user=person(request))
    messages.success(request, f"The view {gone.name} is deleted.")
    return HttpResponseRedirect(_address(gone.lake, gone.query))


def kept_query(query: str) -> str:
    """Return what of a list's query a view keeps: filters, order and columns, no place in it."""
    asked = QueryDict(query)
    kept = QueryDict(mutable=True)
    for name in KEPT:
        if value := cols_of(asked) if name == "cols" else asked.get(name, ""):
            kept[name] = value
    return kept.urlencode()


def shown_views(request: HttpRequest, lake: str) -> list[tuple[int, str, str, bool]]:
    """Return the person's views: number, name, address, and whether the list shows it now."""
    here = kept_query(request.GET.urlencode())
    return [
        (view.pk, view.name, _address(lake, view.query), view.query == here)
        for view in saved_views(lake, person(request))
    ]


def _address(lake: str, query: str) -> str:
    asked = QueryDict(kept_query(query), mutable=True).dict()
    return tables_url(lake, **{name: str(value) for name, value in asked.items()})
