"""Metrics of the portal for a Prometheus server.

What each number is lies in `portal/platform_gauges.py`, with the areas, and in
`portal/request_metrics.py`; nothing names a table or a person.
"""

from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from portal.access.gauges import Gauge, all_gauges
from portal.access.models import User
from portal.access.scopes import METRICS_SCOPE
from portal.access.this_host import is_from_this_host
from portal.people.models import ApiToken
from portal.platform_gauges import platform_gauges
from portal.request_metrics import request_metrics


class MayMonitor(BasePermission):
    """A program on this host, an API token of the scope, an admin or an operator."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether the numbers are shown; the token's scope was looked at before."""
        by_token = isinstance(request.auth, ApiToken)
        is_keeper = isinstance(request.user, User) and request.user.is_portal_staff
        return by_token or is_keeper or is_from_this_host(request._request)


class _AsText(BaseContentNegotiation):
    """Prometheus' form is the only one, whatever the reader prefers."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return next(iter(parsers), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


class Metrics(APIView):
    """The gauges in Prometheus' text form."""

    token_scope = METRICS_SCOPE
    permission_classes = [MayMonitor]
    content_negotiation_class = _AsText

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the gauges, and how requests were answered."""
        lines = [line for gauge in gauges() for line in _text(gauge)]
        return HttpResponse(
            "\n".join(lines) + "\n" + request_metrics(),
            content_type="text/plain; version=0.0.4; charset=utf-8",
        )


def gauges() -> list[Gauge]:
    """Return every gauge that is shown: the platform's, then those of the areas by name."""
    return [*platform_gauges(), *all_gauges()]


def _text(gauge: Gauge) -> Iterator[str]:
    full = f"lakewarden_{gauge.name}"
    yield f"# HELP {full} {gauge.help_text}"
    yield f"# TYPE {full} gauge"
    for labels, value in gauge.samples():
        # By the names that are declared: rules and dashboards are checked against these.
        inner = ",".join(f'{name}="{_escaped(labels[name])}"' for name in gauge.labels)
        yield f"{full}{{{inner}}} {value:.15g}" if inner else f"{full} {value:.15g}"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
