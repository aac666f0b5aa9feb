"""A WSGI application behind waitress in this process, ended from inside its own loop."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import waitress
from waitress import wasyncore

Application = Callable[..., Any]


@contextmanager
def served(application: Application) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1 while the block runs; gives the address.

    Closing the server from another thread takes its sockets away from under `select`, which then
    fails in a thread that no test owns.
    """
    sockets: dict[int, Any] = {}
    server = waitress.create_server(application, map=sockets, listen="127.0.0.1:0", threads=4)
    loop = threading.Thread(target=server.run, daemon=True)
    loop.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.trigger.pull_trigger(lambda: wasyncore.close_all(sockets))
        loop.join(20)
        server.task_dispatcher.shutdown()
        assert not loop.is_alive()
