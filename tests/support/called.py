"""A program on loopback that callbacks are posted to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOST = "tool.example"


@dataclass
class Called:
    """What the program was told, and how it answers."""

    url: str = ""
    status: int = 200
    told: list[dict[str, Any]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)


@contextmanager
def called(settings: Any) -> Iterator[Called]:
    """Serve a program that the settings allow by the name of `HOST`."""
    made = Called()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.bodies.append(body)
            made.told.append(json.loads(body))
            made.signatures.append(self.headers.get("X-Lakewarden-Signature-256", ""))
            self.send_response(made.status)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    made.url = f"http://{HOST}:{server.server_port}/hook"
    settings.LAKEWARDEN_CALLBACK_HOSTS = (f"{HOST}:{server.server_port}",)
    settings.LAKEWARDEN_WEBHOOK_NETWORKS = ("127.0.0.1/32",)
    settings.LAKEWARDEN_WEBHOOK_PLAIN = True
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def here(_host: str, _port: int) -> list[str]:
    """Resolve every name to this machine."""
    return ["127.0.0.1"]
