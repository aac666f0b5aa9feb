"""Shows upcoming expirations and purges as a month, a list, and a feed at a secret address."""

from datetime import date

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from lifecycle.core.ui.links import list_url
from lifecycle.notices.domain.calendar import render_calendar
from lifecycle.notices.selectors.calendar import DAYS_AHEAD, calendar_events, calendar_url
from lifecycle.notices.selectors.months import calendar_month, events_on
from lifecycle.restore.selectors.backups import backup_totals_for_user
from portal.access.lakes import get_lake
from portal.access.registry import Page, register_page
from portal.lake.clock import day_of
from portal.notices.calendar import (
    calendar_address_end,
    calendar_address_make,
    calendar_address_of,
    calendar_reader,
)
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.tables import Column, Table

COLUMNS = (
    Column(key="first", title="From", kind="day"),
    Column(key="last", title="To", kind="day"),
    Column(key="summary", title="What", url=lambda event: event.url),
)
ROWS_SHOWN = 200
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class MonthForm(forms.Form):
    """Which month is shown, and of which day the list is; empty: this month, and all of it."""

    month = forms.DateField(input_formats=["%Y-%m"], required=False)
    day = forms.DateField(input_formats=["%Y-%m-%d"], required=False)


def register_pages() -> None:
    """Add the page to the navigation."""
    register_page(Page("lifecycle", "Calendar", "lifecycle:calendar", 20))


@require_GET
def calendar(request: HttpRequest) -> HttpResponse:
    """Show what goes when, and whether an address for calendar programs stands."""
    return _page(request)


@require_POST
@never_cache
def calendar_make(request: HttpRequest) -> HttpResponse:
    """Make a new secret address and show it this once."""
    lake = current_lake(request)
    secret = calendar_address_make(person(request), lake=lake, now=timezone.now())
    return _page(request, address=calendar_url(secret, lake))


@require_POST
def calendar_end(request: HttpRequest) -> HttpResponse:
    """End the person's address."""
    lake = current_lake(request)
    was_there = calendar_address_end(person(request), lake=lake, now=timezone.now())
    said = "The address is dead." if was_there else "There was no address."
    messages.success(request, said)
    return redirect(list_url("calendar", lake))


@login_not_required
@require_GET
def calendar_feed(request: HttpRequest, secret: str) -> HttpResponse:
    """Return the file to whoever has the secret: what its person may see now."""
    lake, user, now = current_lake(request), calendar_reader(secret), timezone.now()
    text = render_calendar(
        calendar_events(lake, user, now=now), name=f"Lakewarden {lake}", stamp=now
    )
    answer = HttpResponse(text, content_type="text/calendar; charset=utf-8")
    answer["Content-Disposition"] = 'inline; filename="lakewarden.ics"'
    answer["Cache-Control"] = "private, max-age=900"
    return answer


def _page(request: HttpRequest, *, address: str = "") -> HttpResponse:
    lake, user, now = current_lake(request), person(request), timezone.now()
    form = MonthForm(request.GET)
    chosen = form.cleaned_data if form.is_valid() else {}
    today = day_of(now, get_lake(lake).zone)
    day: date | None = chosen.get("day")
    first = (chosen.get("month") or day or today).replace(day=1)
    most = ROWS_SHOWN + 1
    backups = backup_totals_for_user(lake, user)
    if day is None:
        events = calendar_events(lake, user, now=now, most=most, backups=backups)
    else:
        events = events_on(lake, user, day, now=now, backups=backups)
    context = {
        "form": form,
        "month": calendar_month(lake, user, first, today=today, backups=backups),
        "day": day,
        "weekdays": WEEKDAYS,
        "table": Table(COLUMNS, events[:ROWS_SHOWN], "What is due when"),
        "has_more": len(events) > ROWS_SHOWN,
        "known": calendar_address_of(user),
        "address": address,
        "days": DAYS_AHEAD,
    }
    return render(request, "lifecycle/calendar.html", context)
