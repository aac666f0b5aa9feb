"""A WSGI application behind waitress in this process, ended from inside its own loop."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import waitress
from waitress import wasyncore

TURN_SECONDS = 0.05

Application = Callable[..., Any]


@contextmanager
def served(application: Application) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1 while the block runs; gives the address.

    Closing the server from another thread takes its sockets away from under `select`, which then
    fails in a thread that no test owns. The loop looks for its end itself, in turns, for waitress's
    own way to wake it is a pipe that may be closed before.
    """
    sockets: dict[int, Any] = {}
    server = waitress.create_server(application, map=sockets, listen="127.0.0.1:0", threads=4)
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            wasyncore.loop(timeout=TURN_SECONDS, map=sockets, count=1)
        wasyncore.close_all(sockets)

    loop = threading.Thread(target=run, daemon=True)
    loop.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        ended.set()
        loop.join(20)
        server.task_dispatcher.shutdown()
        assert not loop.is_alive()
