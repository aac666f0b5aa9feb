"""Home page of a person: what waits for them, and the status of the lake."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.access.registry import cards_for
from portal.ui.charts.sparklines import spark_of
from portal.ui.frame.context import person
from portal.ui.selectors import administered_databases


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show what waits first, then the numbers."""
    cards = cards_for(request)
    context = {
        "waiting": [card for card in cards if card.kind == "waiting"],
        "numbers": [(card, spark_of(card.trend)) for card in cards if card.kind == "number"],
    }
    return render(request, "portal/home.html", context)


@require_GET
def profile(request: HttpRequest) -> HttpResponse:
    """Show who the person is to the portal."""
    context = {"databases": list(administered_databases(person(request)))}
    return render(request, "portal/profile.html", context)
