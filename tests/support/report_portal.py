"""A web server in the portal's place, that keeps what readers of tables report to it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ReportPortal:
    """What came, and how the server answers."""

    status: int = 200
    answer: Callable[[], int] | None = None
    """Gives the status of each answer, in the place of the one above."""
    bodies: list[Any] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)
    address: str = ""


@contextmanager
def receiving() -> Iterator[ReportPortal]:
    """Serve until the block ends; answers wait while `hold` is cleared."""
    found = ReportPortal()
    found.hold.set()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.hold.wait(20)
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            # Senders of several catalogs come at once.
            with lock:
                found.paths.append(self.path)
                found.tokens.append(self.headers.get("Authorization", ""))
                found.bodies.append(body)
            self.send_response(found.answer() if found.answer else found.status)
            self.send_header("Location", f"{found.address}/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.address = f"http://127.0.0.1:{server.server_address[1]}/index-reports"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        found.hold.set()
        server.shutdown()
        server.server_close()
