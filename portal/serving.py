"""A gunicorn worker that gives a thread only whole requests, so slow clients hold none.

Gunicorn's own threaded worker reads headers and bodies in the thread that answers: as many
half-sent requests as there are threads stop the site. Here gunicorn starts, watches and ends the
processes, and waitress does their I/O: one loop reads all connections, and a request goes to a
thread once its last byte is here. Answers are buffered the same way.
"""

import os
import time
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import BaseWSGIServer, create_server

REQUEST_SECONDS = float(os.environ.get("LAKEWARDEN_REQUEST_SECONDS", "30"))
"""How long a client may take to send one request, and how long a connection may be idle."""
STALLED_SECONDS = 60.0
"""How long an answer waits for a client that takes nothing of it."""
MOST_BODY_BYTES = 64 * 1024**2
MOST_HEADER_BYTES = 64 * 1024
_LOOK_SECONDS = 1.0


class BufferedWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """Serve the site with buffered requests and answers."""

    def run(self) -> None:
        """Serve until the arbiter says stop, then finish what has begun."""
        channels: dict[int, Any] = {}
        server = create_server(
            self.wsgi,
            map=channels,
            sockets=[listener.sock for listener in self.sockets],
            threads=self.cfg.threads,
            connection_limit=self.cfg.worker_connections,
            channel_timeout=REQUEST_SECONDS,
            cleanup_interval=5,
            max_request_header_size=MOST_HEADER_BYTES,
            max_request_body_size=MOST_BODY_BYTES,
            asyncore_use_poll=True,
            log_socket_errors=False,
            ident=None,
            # Django reads what a trusted proxy says (LAKEWARDEN_PROXIES), not the server.
            clear_untrusted_proxy_headers=False,
        )
        slow = SlowClients()
        while self.alive and self.ppid == os.getppid():
            self._turn(channels, slow)
        _stop_accepting(channels)
        until = time.monotonic() + self.cfg.graceful_timeout
        while _is_busy(channels) and time.monotonic() < until:
            self._turn(channels, slow)
        server.task_dispatcher.shutdown(timeout=1)
        wasyncore.close_all(channels, ignore_all=True)

    def _turn(self, channels: dict[int, Any], slow: "SlowClients") -> None:
        self.notify()
        wasyncore.loop(timeout=_LOOK_SECONDS, use_poll=True, map=channels, count=1)
        slow.close_late(_clients(channels), now=time.time())


class SlowClients:
    """The connections whose request is still on its way, and since when."""

    def __init__(self) -> None:
        self._since: dict[HTTPChannel, tuple[object, float]] = {}

    def close_late(self, clients: list[HTTPChannel], *, now: float) -> None:
        """Close who sends one request too slowly, or takes nothing of a long answer."""
        self._since = {one: self._begun(one, now) for one in clients if one.request is not None}
        for one in clients:
            _, since = self._since.get(one, (None, now))
            is_stalled = one.total_outbufs_len and now - one.last_activity > STALLED_SECONDS
            if is_stalled or now - since > REQUEST_SECONDS:
                one.handle_close()

    def _begun(self, client: HTTPChannel, now: float) -> tuple[object, float]:
        known = self._since.get(client)
        return known if known and known[0] is client.request else (client.request, now)


def _clients(channels: dict[int, Any]) -> list[HTTPChannel]:
    return [one for one in channels.values() if isinstance(one, HTTPChannel)]


def _stop_accepting(channels: dict[int, Any]) -> None:
    for one in channels.values():
        if isinstance(one, BaseWSGIServer):
            one.accepting = False


def _is_busy(channels: dict[int, Any]) -> bool:
    return any(one.requests or one.total_outbufs_len for one in _clients(channels))
