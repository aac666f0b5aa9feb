"""How does a person read what the API offers? By Swagger inside our frame, scripts from here."""

from typing import Any

from django.contrib.auth.mixins import LoginRequiredMixin
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView


class Schema(SpectacularAPIView):
    """The OpenAPI document."""


class ApiPage(LoginRequiredMixin, SpectacularSwaggerSplitView):  # type: ignore[misc]  # untyped base
    """The API page: the frame, and Swagger drawn by a script of its own address (CSP)."""

    url_name = "ui:schema"
    template_name = "portal/api.html"

    def get(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Give the page, or its script with `?script=`."""
        response = super().get(request, *args, **kwargs)
        response["Cross-Origin-Opener-Policy"] = "same-origin"
        return response
