"""Addresses of `lifecycle.notices`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.notices import api, ui

ui_urlpatterns: list[URLPattern] = [
    path("calendar/", ui.calendar, name="calendar"),
    path("calendar/make/", ui.calendar_make, name="calendar-make"),
    path("calendar/end/", ui.calendar_end, name="calendar-end"),
    path("calendar/<slug:secret>/lakewarden.ics", ui.calendar_feed, name="calendar-feed"),
]

api_urlpatterns: list[URLPattern] = [
    path("calendar/", api.Calendar.as_view(), name="calendar"),
    path("calendar/month/", api.CalendarMonth.as_view(), name="calendar-month"),
    path("calendar/end/", api.CalendarEnd.as_view(), name="calendar-end"),
]
