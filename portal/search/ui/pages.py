"""The search page, and what drops down from the field as one types."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.lake.errors import RuleViolation
from portal.search.selectors.everything import LISTED, SHOWN, Found
from portal.search.selectors.everything import search as search_all
from portal.search.selectors.opened import opened_last
from portal.ui.frame.context import current_lake, person


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """List what was found; to htmx, the first of each kind for the field."""
    user, lake = person(request), current_lake(request)
    text = request.GET.get("q", "")
    is_field = "HX-Request" in request.headers and "HX-Boosted" not in request.headers
    problem = ""
    try:
        found = search_all(user, lake, text, limit=SHOWN if is_field else LISTED)
    except RuleViolation as error:
        found, problem = Found(""), error.message
    context = {
        "found": found,
        "problem": problem,
        "opened": [] if found.text or problem else opened_last(user, lake),
    }
    template = "search/_found.html" if is_field else "search/search.html"
    status = 400 if problem and not is_field else 200
    return render(request, template, context, status=status)
