"""Tests that clients which send or read slowly leave the site to everybody else."""

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.portal import Site

REQUEST_SECONDS = 8
HALF_A_HEAD = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
# The token in the cookie makes Django read the body to compare it.
HALF_A_BODY = (
    b"POST /logout/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken=" + b"a" * 32 + b"\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 999\r\n\r\nnext=%2F"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site as the demo serves it: two processes of four threads."""
    var = tmp_path_factory.mktemp("slow")
    settings = {"LAKEWARDEN_VAR": str(var), "LAKEWARDEN_LAKES": str(var / "lakes.json")}
    settings["LAKEWARDEN_REQUEST_SECONDS"] = str(REQUEST_SECONDS)
    site = Site(var, ledger=Ledger(var / "stack.json"), settings=settings)
    site.start()
    site.wait_ready()
    yield site
    site.stop()


def alive_within(site: Site, seconds: float) -> float:
    """Return how long /livez took."""
    began = time.monotonic()
    link = http.client.HTTPConnection(LOOPBACK, site.port, timeout=seconds)
    link.request("GET", "/livez")
    answer = link.getresponse()
    assert (answer.status, answer.read()) == (200, b"ok\n")
    link.close()
    return time.monotonic() - began


@pytest.mark.parametrize("n_clients", [12, 64])
@pytest.mark.parametrize("sent", [HALF_A_HEAD, HALF_A_BODY], ids=["head", "body"])
def test_half_sent_requests_hold_no_thread(site: Site, n_clients: int, sent: bytes) -> None:
    with ExitStack() as opened:
        for _ in range(n_clients):
            link = opened.enter_context(socket.create_connection((LOOPBACK, site.port)))
            link.sendall(sent)
        time.sleep(0.5)
        for _ in range(5):
            assert alive_within(site, 10) < 3


def test_answers_that_nobody_takes_hold_no_thread(site: Site) -> None:
    asked = b"GET /static/vendor/plotly.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with ExitStack() as opened:
        for _ in range(24):
            link = opened.enter_context(socket.socket())
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
            link.connect((LOOPBACK, site.port))
            link.sendall(asked)
        time.sleep(0.5)
        assert alive_within(site, 10) < 5


def test_who_stops_in_the_middle_of_a_request_is_closed_in_time(site: Site) -> None:
    """Also who sends a byte now and then: the time counts for the whole request."""
    with socket.create_connection((LOOPBACK, site.port)) as link:
        link.sendall(HALF_A_HEAD)
        link.settimeout(1)
        began, closed = time.monotonic(), False
        while time.monotonic() - began < 20 and not closed:
            try:
                link.sendall(b"x")
                closed = link.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True
        assert closed
        assert time.monotonic() - began > REQUEST_SECONDS - 2


def test_a_stopping_site_finishes_what_it_has_begun(site: Site, tmp_path: Path) -> None:
    settings = {"LAKEWARDEN_VAR": str(tmp_path), "LAKEWARDEN_LAKES": str(tmp_path / "lakes.json")}
    other = Site(tmp_path, ledger=Ledger(tmp_path / "stack.json"), settings=settings)
    other.start()
    other.wait_ready()
    began = time.monotonic()
    other.stop()
    assert time.monotonic() - began < 8
    assert "Traceback" not in other.process.log.read_text(encoding="utf-8")
