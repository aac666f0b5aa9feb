"""An address whose view has a bug, for the test of the page that answers it."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

handler500 = "portal.ui.errors.server_error"


def broken(request: HttpRequest) -> HttpResponse:
    """Raise what nobody expected."""
    raise KeyError("secret detail")


urlpatterns = [path("broken/", broken), path("", include("portal.ui.urls"))]
