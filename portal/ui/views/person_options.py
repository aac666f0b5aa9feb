"""Options of a field that asks for a person, found while one types."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.people.search import people_found

FIELDS = ("to", "owner", "q")


@require_GET
def person_options(request: HttpRequest) -> HttpResponse:
    """Return the people whose names begin as the field says, as options of a datalist."""
    text = next((request.GET[name] for name in FIELDS if name in request.GET), "")
    return render(request, "ui/_person_options.html", {"people": people_found(text)})
