"""Shows what the API offers as plain tables, or by Swagger inside the portal's frame."""

from functools import cache
from typing import Any, NamedTuple

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

_REPORTED = "Reports of engines and jobs"
_METHODS = ("get", "post", "put", "patch", "delete")


class Operation(NamedTuple):
    """One thing that the API can do."""

    method: str
    path: str
    what: str
    parameters: list[str]
    body: list[str]


class Schema(SpectacularAPIView):
    """The OpenAPI document, for who is signed in; it is made once a process."""

    permission_classes = [IsAuthenticated]

    def _get_schema_response(self, request: Request) -> HttpResponse:
        media_type = request.accepted_renderer.media_type
        return HttpResponse(_rendered(media_type), content_type=media_type)


class ApiExplorer(SpectacularSwaggerSplitView):
    """Swagger, drawn by a script that has an address of its own (CSP)."""

    url_name = "ui:schema"
    template_name = "portal/api_explorer.html"

    @extend_schema(exclude=True)
    def get(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the page, or its script with `?script=`."""
        response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]  # library untyped
        response["Cross-Origin-Opener-Policy"] = "same-origin"
        return response


# A stranger signs in first. Another method is refused before the library would read its body
# for the page of the refusal, which fails on a body that is no JSON.
api_explorer = login_required(require_safe(ApiExplorer.as_view()))


@require_GET
def api_page(request: HttpRequest) -> HttpResponse:
    """List every operation by its group."""
    return render(request, "portal/api.html", {"groups": operations()})


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document, which changes only with the code."""
    generator: Any = SchemaGenerator
    found: dict[str, Any] = generator().get_schema(request=None, public=True)
    return found


@cache
def _rendered(media_type: str) -> str | bytes:
    """Return the document as JSON or YAML: writing it costs as much as making it."""
    found = {renderer.media_type: renderer for renderer in Schema.renderer_classes}
    text: str | bytes = found[media_type]().render(document(), renderer_context={})
    return text


@cache
def operations() -> dict[str, list[Operation]]:
    """Read the operations from the OpenAPI document, by group; they change only with the code."""
    groups: dict[str, list[Operation]] = {}
    for path, methods in document()["paths"].items():
        for method in _METHODS:
            if method in methods:
                found = _operation(document(), path, method)
                groups.setdefault(_group(path), []).append(found)
    return groups


def _group(path: str) -> str:
    if not path.startswith("/api/v1/"):
        return _REPORTED
    return path.removeprefix("/api/v1/").split("/", 1)[0].replace("-", " ").capitalize()


def _operation(whole: dict[str, Any], path: str, method: str) -> Operation:
    described = whole["paths"][path][method]
    asked = [part["name"] for part in described.get("parameters", []) if part["in"] == "query"]
    content = described.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]
    body = whole.get("components", {}).get("schemas", {}).get(name, {}).get("properties", {})
    return Operation(method.upper(), path, described.get("description", ""), asked, list(body))
