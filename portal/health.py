"""Is this process alive, and can the portal do its work?

`/livez` asks nothing. `/readyz` asks the database (without it: 503), and reports the broker, the
supervisor's lease and the lakes, whose absence pages outlive.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import redis
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal.access.lakes import all_lakes
from portal.runs.models import Lease

BROKER_TIMEOUT_SECONDS = 2.0
LEASE_GRACE = timedelta(seconds=30)

Check = Callable[[], str]


@never_cache
@require_safe
def livez(request: HttpRequest) -> HttpResponse:
    """Answer while the process answers at all."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when pages can be served; `work` says whether runs are driven too."""
    results = {name: _ask(check) for name, check in _CHECKS.items()}
    is_ready = results["database"]["ok"]
    body = {
        "ready": is_ready,
        "work": all(result["ok"] for result in results.values()),
        "checks": results,
    }
    return JsonResponse(body, status=200 if is_ready else 503)


def _ask(check: Check) -> dict[str, Any]:
    began = time.monotonic()
    try:
        detail, ok = check(), True
    except Exception as error:
        detail, ok = f"{type(error).__name__}", False
    return {"ok": ok, "detail": detail, "ms": round((time.monotonic() - began) * 1000, 1)}


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return connection.vendor


def _broker() -> str:
    url = settings.LAKEWARDEN_REDIS_URL.replace("redis+socket://", "unix://")
    client = redis.Redis.from_url(
        url, socket_timeout=BROKER_TIMEOUT_SECONDS, socket_connect_timeout=BROKER_TIMEOUT_SECONDS
    )
    try:
        client.ping()
    finally:
        client.close()
    return "answers"


def _supervisor() -> str:
    """Say how long ago the leader of `manage.py supervise` showed itself."""
    newest = Lease.objects.order_by("-until").first()
    if newest is None:
        raise RuntimeError("nobody supervises")
    late = timezone.now() - newest.until
    if late > LEASE_GRACE:
        raise TimeoutError("the supervisor is silent")
    return f"{newest.name} led by {newest.holder}"


def _lakes() -> str:
    names = sorted(all_lakes())
    if not names:
        raise LookupError("no lake is set up")
    return ", ".join(names)


_CHECKS: dict[str, Check] = {
    "database": _database,
    "broker": _broker,
    "supervisor": _supervisor,
    "lakes": _lakes,
}
