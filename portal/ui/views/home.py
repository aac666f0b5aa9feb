"""What waits for this person, and how does the lake do?"""

from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.access.registry import Card, cards_for
from portal.ui.frame import person
from portal.ui.selectors import administered_databases

_WIDTH, _HEIGHT = 120.0, 32.0


@dataclass(frozen=True)
class Spark:
    """A card's trend as points of a small line, and the same as words."""

    line: str
    area: str
    words: str


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Show what waits first, then the numbers."""
    cards = cards_for(request)
    context = {
        "waiting": [card for card in cards if card.kind == "waiting"],
        "numbers": [(card, _spark(card)) for card in cards if card.kind == "number"],
    }
    return render(request, "portal/home.html", context)


@login_required
@require_GET
def profile(request: HttpRequest) -> HttpResponse:
    """Show who the person is to the portal."""
    context = {"databases": list(administered_databases(person(request)))}
    return render(request, "portal/profile.html", context)


def _spark(card: Card) -> Spark | None:
    if len(card.trend) < 2:
        return None
    values = [value for _, value in card.trend]
    low, high = min(0.0, *values), max(values)
    span = (high - low) or 1.0
    step = _WIDTH / (len(values) - 1)
    points = [
        (place * step, _HEIGHT - (value - low) / span * _HEIGHT)
        for place, value in enumerate(values)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    (first, was), (last, now) = card.trend[0], card.trend[-1]
    words = f"from {was:,.0f} on {first} to {now:,.0f} on {last}"
    return Spark(line, f"0,{_HEIGHT:.0f} {line} {_WIDTH:.0f},{_HEIGHT:.0f}", words)
