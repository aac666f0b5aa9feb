"""Addresses whose views have a bug or lose the database, for the tests of what answers then."""

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.urls import include, path

handler500 = "portal.ui.frame.errors.server_error"


def broken(request: HttpRequest) -> HttpResponse:
    """Raise what nobody expected."""
    raise KeyError("secret detail")


def lost(request: HttpRequest) -> HttpResponse:
    """Lose the database as MariaDB ends one of two transactions that wait for each other."""
    raise OperationalError(1213, "Deadlock found when trying to get lock: secret detail")


urlpatterns = [
    path("broken/", broken),
    path("lost/", lost),
    path("api/lost/", lost),
    path("", include("portal.ui.urls")),
]
