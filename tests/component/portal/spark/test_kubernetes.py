"""Pods of drivers as an API server tells them: why they wait, how they ended, what they wrote."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from requests import Response

from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.spark.masters.application import KILL_WAIT_SECONDS
from portal.spark.masters.kubernetes import KubernetesApi
from portal.spark.masters.web import WebSession
from tests.support.lakes import local_lake

PODS = "/api/v1/namespaces/lake/pods"
_NO_NODE = "0/3 nodes are available: 3 Insufficient memory."


@dataclass
class FakeApi:
    """Pods of one namespace, and what was asked with which token."""

    address: str = ""
    pods: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    graces: list[int] = field(default_factory=list)
    """For how many seconds deleted pods were let end by themselves; Kubernetes' own is 30."""
    tokens: set[str] = field(default_factory=set)
    refusal: str = ""
    other: tuple[int, bytes] | None = None
    """What something else at this address answers."""

    def has(self, name: str, **status: Any) -> None:
        metadata = {
            "name": name,
            "namespace": "lake",
            "creationTimestamp": "2026-11-20T09:00:00Z",
        }
        self.pods[name] = {"metadata": metadata, "status": status}


@contextmanager
def fake_api() -> Iterator[FakeApi]:
    """Serve one on loopback."""
    fake = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            if url.path.endswith("/log"):
                self._answer(200, b"first\nlast\n")
                return
            fake.asked += parse_qs(url.query).get("labelSelector", [])
            self._answer(200, json.dumps({"items": list(fake.pods.values())}).encode())

        def do_DELETE(self) -> None:
            url = urlsplit(self.path)
            fake.graces.append(int(parse_qs(url.query).get("gracePeriodSeconds", ["30"])[0]))
            found = fake.pods.pop(url.path.rpartition("/")[2], None)
            self._answer(200 if found else 404, b"{}")

        def date_time_string(self, timestamp: float | None = None) -> str:
            return "Fri, 20 Nov 2026 09:03:00 GMT"

        def _answer(self, status: int, body: bytes) -> None:
            fake.tokens.add(self.headers.get("Authorization", ""))
            if fake.refusal:
                status, body = 403, json.dumps({"message": fake.refusal}).encode()
            status, body = fake.other or (status, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fake.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as fake:
        yield fake


def client_of(api: FakeApi, tmp_path: Path, name: str = "t1") -> KubernetesApi:
    file = tmp_path / "token"
    file.write_text(f"{name}\n", encoding="utf-8")
    conf = {
        "spark.kubernetes.namespace": "lake",
        "spark.kubernetes.authenticate.submission.oauthTokenFile": str(file),
    }
    lake = local_lake(tmp_path, LakeId("main"))
    return KubernetesApi.of(replace(lake, spark_master=f"k8s://{api.address}", spark_conf=conf))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({}, "no node has been chosen for its pod"),
        (
            {
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": _NO_NODE,
                    }
                ]
            },
            "Unschedulable: 0/3 nodes are available: 3 Insufficient memory",
        ),
        (
            {"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]},
            "ImagePullBackOff",
        ),
    ],
)
def test_a_pod_that_waits_says_why_and_how_long(
    api: FakeApi, tmp_path: Path, status: dict[str, Any], words: str
) -> None:
    api.has("a-driver", phase="Pending", **status)
    (found,) = client_of(api, tmp_path).tagged("lw-1-1")
    assert (found.waits_for, found.waited) == (words, timedelta(minutes=3))
    assert not found.is_final
    assert api.asked == ["spark-role=driver,lakewarden-tag=lw-1-1"]


def test_an_ended_pod_has_its_reason_and_its_log(api: FakeApi, tmp_path: Path) -> None:
    ended = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    api.has("a-driver", phase="Failed", containerStatuses=[{"state": ended}])
    client = client_of(api, tmp_path)
    (found,) = client.tagged("lw-1-1")
    assert (found.is_final, found.diagnostics) == (True, "OOMKilled (exit code 137)")
    assert client.driver_log(found, "stdout", n_bytes=100) == b"first\nlast\n"
    assert client.driver_log(found, "stderr", n_bytes=100) == b""
    client.kill(found.id)
    client.kill(found.id)
    assert client.tagged("lw-1-1") == []
    assert all(0 < seconds < KILL_WAIT_SECONDS for seconds in api.graces)


def test_tokens_are_read_again_and_a_refusal_is_no_end(api: FakeApi, tmp_path: Path) -> None:
    client_of(api, tmp_path).tagged("lw-1-1")
    client = client_of(api, tmp_path, name="t2")
    client.tagged("lw-1-1")
    assert api.tokens == {"Bearer t1", "Bearer t2"}
    api.refusal = "pods is forbidden"
    with pytest.raises(ExternalFailure, match=r"pods is forbidden \(HTTP 403\)") as refused:
        client.tagged("lw-1-1")
    assert refused.value.retryable
    with pytest.raises(ExternalFailure, match="pods is forbidden"):
        client.kill("a-driver")


@pytest.mark.parametrize("named", ["", "/etc/lakewarden/kube-ca.crt"])
def test_the_authorities_are_the_host_s_where_no_others_are_named(
    api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    asked = []
    ask = WebSession.ask

    def noted(self: WebSession, method: str, url: str, **what: Any) -> Response:
        asked.append(what["verify"])
        return ask(self, method, url, **what)

    monkeypatch.setattr(WebSession, "ask", noted)
    conf = {"spark.kubernetes.authenticate.submission.caCertFile": named} if named else {}
    lake = local_lake(tmp_path, LakeId("main"))
    lake = replace(lake, spark_master=f"k8s://{api.address}", spark_conf=conf)
    KubernetesApi.of(lake).tagged("lw-1")
    paths = ssl.get_default_verify_paths()
    assert asked == [named or paths.cafile or paths.capath]


@pytest.mark.parametrize("other", [(302, b""), (200, b"<html>Log in</html>"), (200, b"[]")])
def test_what_is_no_api_server_says_nothing_of_pods(
    tmp_path: Path, other: tuple[int, bytes]
) -> None:
    with fake_api() as fake:
        fake.other = other
        lake = replace(local_lake(tmp_path, LakeId("main")), spark_master=f"k8s://{fake.address}")
        with pytest.raises(ExternalFailure) as told:
            KubernetesApi.of(lake).tagged("lw-1")
        assert (told.value.service, told.value.retryable) == ("kubernetes", True)
        if other[0] != 200:
            with pytest.raises(ExternalFailure, match="HTTP 302"):
                KubernetesApi.of(lake).kill("driver")
