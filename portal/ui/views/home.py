"""Home page of a person: what waits for them, the lake in numbers and in pictures."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from portal.access.registry import cards_for
from portal.access.roles.domain import ALL_LAKES
from portal.notices.muting import mutable_kinds, muted_by
from portal.ui.charts.sparklines import spark_of
from portal.ui.demo_progress import demo_progress
from portal.ui.frame.context import lake_or_none, person
from portal.ui.home_pictures import get_picture, pictures_for
from portal.ui.selectors import administered_databases
from portal.ui.tour import HIDDEN_COOKIE, tour_steps


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show what waits first, then the numbers; the pictures come by themselves."""
    cards, lake = cards_for(request), lake_or_none(request)
    context = {
        "waiting": [card for card in cards if card.kind == "waiting"],
        "numbers": [(card, spark_of(card.trend)) for card in cards if card.kind == "number"],
        "played": demo_progress(),
        "tour": tour_steps(request),
        "pictures": pictures_for(person(request), lake) if lake else [],
    }
    return render(request, "portal/home.html", context)


@require_POST
def tour_hide(request: HttpRequest) -> HttpResponse:
    """Hide the demo's guided tour in this browser."""
    answer = HttpResponseRedirect(reverse("ui:home"))
    answer.set_cookie(HIDDEN_COOKIE, "hidden", samesite="Lax", secure=request.is_secure())
    return answer


@require_GET
def home_picture(request: HttpRequest, key: str) -> HttpResponse:
    """Show one picture of the home page: as a part of it, or alone where JavaScript is off."""
    picture = get_picture(key, person(request), lake_or_none(request) or ALL_LAKES)
    context = {
        "picture": picture,
        "chart": picture.make(request),
        "list_url": picture.list_url(request),
    }
    is_part = request.headers.get("HX-Request") == "true"
    template = "portal/_home_picture.html" if is_part else "portal/home_picture.html"
    return render(request, template, context)


@require_GET
def profile(request: HttpRequest) -> HttpResponse:
    """Show who the person is to the portal."""
    user = person(request)
    off = muted_by(user)
    context = {
        "databases": list(administered_databases(user)),
        "mails": [(kind, kind.name not in off) for kind in mutable_kinds()],
    }
    return render(request, "portal/profile.html", context)
