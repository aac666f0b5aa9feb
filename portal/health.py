"""Reports whether the process is alive and whether the portal can do its work.

`/livez` asks nothing. `/readyz` asks the database (without it: 503), and reports the broker, the
supervisor's lease and the lakes, whose absence pages outlive. The same stands on the health page
and in the API, with what each absence means.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from portal.access.lakes import all_lakes
from portal.access.this_host import is_from_this_host
from portal.events.selectors import follower_state
from portal.lake.errors import ExternalFailure, PortalError
from portal.runs.claims.leases import SUPERVISOR
from portal.runs.models import Lease, Outbox
from portal.servers.redis import broker_problem, redis_client, redis_server
from portal.servers.tls_errors import tls_problem

BROKER_TIMEOUT_SECONDS = 2.0
LEASE_GRACE = timedelta(seconds=30)
LAKE_GRACE = timedelta(minutes=2)
_OF_LAKE = "lake:"
_WITHOUT_LAKE = (
    "Its pages show what was read before, and nothing acts on it; other lakes go on. Start its "
    "metastore: what was missed is taken in by itself."
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that the portal needs, and what goes on and what waits without it."""

    name: str
    title: str
    without_it: str
    ask: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Health:
    """How one part answered just now; `means` is empty while it does."""

    name: str
    title: str
    ok: bool
    detail: str
    means: str
    ms: float


@login_not_required
@never_cache
@require_safe
def livez(request: HttpRequest) -> HttpResponse:
    """Answer while the process answers at all."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 when pages can be served; `work` says whether runs are driven too.

    What each part says of itself names hosts and lakes: only programs of this host read it here.
    """
    parts, is_near = health_now(), is_from_this_host(request)
    is_ready = next(part.ok for part in parts if part.name == "database")
    body = {
        "ready": is_ready,
        "work": all(part.ok for part in parts),
        "checks": {
            part.name: {"ok": part.ok} | ({"detail": part.detail, "ms": part.ms} if is_near else {})
            for part in parts
            if is_near or not part.name.startswith(_OF_LAKE)
        },
    }
    return JsonResponse(body, status=200 if is_ready else 503)


def health_now() -> list[Health]:
    """Ask every part; none waits longer than a few seconds."""
    lakes = [
        Part(f"{_OF_LAKE}{lake}", f"The lake {lake}", _WITHOUT_LAKE, partial(_lake, lake))
        for lake in sorted(all_lakes())
    ]
    return [_ask(part) for part in (*_PARTS, *lakes)]


def _ask(part: Part) -> Health:
    began = time.monotonic()
    try:
        detail, ok = part.ask(), True
    except PortalError as error:
        detail, ok = error.message, False
    except Exception as error:  # a check that breaks is an answer too
        _log.warning("health: %s: %s", part.name, error)
        detail, ok = f"{part.title} could not be asked ({type(error).__name__}).", False
    ms = round((time.monotonic() - began) * 1000, 1)
    return Health(part.name, part.title, ok, detail, "" if ok else part.without_it, ms)


def _failure(code: str, message: str, service: str) -> ExternalFailure:
    return ExternalFailure(code, message, service=service, retryable=True)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except Error as error:
        _log.warning("health: the database does not answer: %s", error)
        problem = tls_problem(error, prefix="LAKEWARDEN_DB")
        why = f" TLS: {problem.reason} {problem.next_step}" if problem else ""
        message = f"The database does not answer.{why}"
        raise _failure("health.database", message, "portal_db") from error
    return connection.vendor


def _broker() -> str:
    client = redis_client(timeout_seconds=BROKER_TIMEOUT_SECONDS)
    try:
        client.ping()
    except (RedisError, OSError) as error:
        # Its address stands in the log only: /readyz is open to everybody.
        problem = broker_problem(error)
        _log.warning("health: %s", problem.of(redis_server()) if problem else error)
        why = f" TLS: {problem.reason} {problem.next_step}" if problem else ""
        raise _failure("health.broker", f"Redis does not answer.{why}", "broker") from error
    finally:
        client.close()
    n_waiting = Outbox.objects.filter(published_at=None, not_before__lte=timezone.now()).count()
    return f"answers; {n_waiting} messages wait"


def _supervisor() -> str:
    """Say who leads `manage.py supervise`; workers for refresh and capture have other leases."""
    leader = Lease.objects.filter(name=SUPERVISOR).first()
    if leader is None:
        raise _failure("health.supervisor", "Nobody supervises.", "supervisor")
    late = timezone.now() - leader.until
    if late > LEASE_GRACE:
        seconds = int(late.total_seconds())
        message = f"The supervisor has been silent for {seconds} s."
        raise _failure("health.supervisor", message, "supervisor")
    return f"led by {leader.holder}"


def _lakes() -> str:
    names = sorted(all_lakes())
    if not names:
        raise _failure("health.lakes", "No lake is set up.", "config")
    return ", ".join(names)


def _lake(lake: str) -> str:
    """Say when a lake's follower last heard of its metastore, which nobody waits for here."""
    place = follower_state(lake)
    if place is None:
        raise _failure("health.lake", "Its metastore has not been read yet.", "metastore")
    silent = timezone.now() - place.checked_at
    if silent > LAKE_GRACE:
        minutes = int(silent.total_seconds()) // 60
        message = f"Its metastore was last read {minutes} min ago."
        raise _failure("health.lake", message, "metastore")
    return f"read {int(silent.total_seconds())} s ago; {place.n_behind} events behind"


_PARTS = (
    Part(
        "database",
        "The portal's database",
        "No page can be served. Start the database; nothing else needs to be done.",
        _database,
    ),
    Part(
        "broker",
        "The message broker (Redis)",
        "Pages and approvals work. What is asked for is kept in the database and starts by itself "
        "when Redis is back. Start Redis; nothing is lost.",
        _broker,
    ),
    Part(
        "supervisor",
        "The supervisor",
        "No run starts or is supervised, and what acts on the lake stops within a minute. Start "
        "manage.py supervise; runs are found again.",
        _supervisor,
    ),
    Part(
        "lakes",
        "The lakes' configuration",
        "There is nothing to show. Write lakes.json (docs/operations.md).",
        _lakes,
    ),
)
