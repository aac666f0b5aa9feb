"""The web service of a ResourceManager as far as the portal asks it; tests set what it has."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.certificates import Pair


@dataclass
class FakeYarn:
    """Applications by tag, and what was asked."""

    address: str = ""
    apps: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    killed: list[str] = field(default_factory=list)
    users: set[str] = field(default_factory=set)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    ha_state: str = "ACTIVE"
    is_deaf: bool = False
    """Whether its nodes cannot be reached, so that what is killed goes on."""
    refusal: str = ""
    """What it says where it refuses."""
    wants_proof: bool = False
    n_asked: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    scheduler: str = "capacityScheduler"
    queues: dict[str, tuple[bool, bool]] = field(
        default_factory=lambda: {"root.default": (True, True)}
    )
    """Paths, and whether containers are left to it: by other queues, and by those within."""

    def has(
        self, tag: str, state: str, *, number: int = 1, diagnostics: str = "", waited: int = 0
    ) -> str:
        """Have one application with a tag; gives its id."""
        name = f"application_1_{number:04d}"
        self.apps[tag] = [
            {
                "id": name,
                "state": state,
                "queue": "root.etl",
                "diagnostics": diagnostics,
                "elapsedTime": waited * 1000,
            }
        ]
        return name

    def logs(self, tag: str, outputs: dict[str, str]) -> None:
        """Have the node of an application serve what its driver wrote."""
        self.outputs = outputs
        place = f"http://{self.address}/node/containerlogs/container_1/user"
        self.apps[tag][0]["amContainerLogs"] = place

    def kill(self, name: str) -> None:
        """End an application as YARN does; one that has ended stays as it is."""
        self.killed.append(name)
        if self.is_deaf:
            return
        for app in (app for apps in self.apps.values() for app in apps if app["id"] == name):
            if app["state"] not in ("FINISHED", "FAILED", "KILLED"):
                app["state"] = "KILLED"

    def answer(self, address: str) -> dict[str, Any]:
        """Return what the web service says at an address, and note who asks."""
        query = parse_qs(urlsplit(address).query)
        self.users.update(query.get("user.name", []))
        if urlsplit(address).path.endswith("/info"):
            info = {"state": "STARTED", "haState": self.ha_state, "resourceManagerVersion": "3.3.4"}
            return {"clusterInfo": info}
        if urlsplit(address).path.endswith("/scheduler"):
            return {"scheduler": {"schedulerInfo": self._below("root", type=self.scheduler)}}
        apps = self.apps.get(query.get("applicationTags", [""])[0], [])
        return {"apps": {"app": apps} if apps else None}

    def _below(self, path: str, **what: Any) -> dict[str, Any]:
        """Return a queue as Hadoop 3.4 tells of it."""
        told = {**what, "queueName": path.rpartition(".")[2], "queuePath": path}
        if path in self.queues:
            names = ("preemptionDisabled", "intraQueuePreemptionDisabled")
            return {**told, **dict(zip(names, self.queues[path], strict=True)), "queues": None}
        n_above = path.count(".") + 1
        parts = [one.split(".") for one in self.queues if one.startswith(f"{path}.")]
        below = dict.fromkeys(".".join(one[: n_above + 1]) for one in parts)
        return {**told, "queues": {"queue": [self._below(one) for one in below]}}


@contextmanager
def fake_yarn(*, tls: Pair | None = None) -> Iterator[FakeYarn]:
    """Serve one on loopback, by HTTPS where it has a certificate."""
    fake = FakeYarn()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fake.n_asked += 1
            if "/node/containerlogs/" in self.path:
                name = urlsplit(self.path).path.rpartition("/")[2]
                self._send(fake.outputs.get(name, "").encode())
                return None
            return self._answer(fake.answer(self.path))

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            fake.kill(urlsplit(self.path).path.split("/")[-2])
            self._answer({"state": "KILLED"})

        def _answer(self, told: dict[str, Any]) -> None:
            if fake.refusal:
                told = {"RemoteException": {"message": fake.refusal}}
            self._send(json.dumps(told).encode())

        def _send(self, body: bytes) -> None:
            is_unproven = fake.wants_proof and "Authorization" not in self.headers
            self.send_response(401 if is_unproven else fake.status)
            self.send_header("Content-Length", str(len(body)))
            for name, value in fake.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        _serve_by_https(server, tls)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fake.address = f"127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _serve_by_https(server: ThreadingHTTPServer, tls: Pair) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls.certificate, tls.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
