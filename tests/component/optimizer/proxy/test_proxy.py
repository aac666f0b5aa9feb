"""The proxy before an HTTP server that answers as Trino does: all but queries passes untouched."""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from optimizer.proxy.domain.statements import Rewriter, Rewriting, Statement
from optimizer.proxy.domain.uses import CubeUse
from optimizer.proxy.jobs.forwarding import MARK, REASON, Proxy
from optimizer.proxy.jobs.reports import MOST_WAITING, CubeReports
from optimizer.proxy.jobs.rewriting import Rewriters
from optimizer.usage.api import UseReportSerializer
from tests.support.report_portal import receiving
from tests.support.served import served

SECRET = "Basic c2VjcmV0OnNlY3JldA=="
SQL = "SELECT * FROM lake.logs.lines WHERE id = 5"


class Coordinator(ThreadingHTTPServer):
    """Keeps what it was sent, and answers as Trino does at first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    server: Coordinator

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self._answer(body)

    def do_GET(self) -> None:
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((self.command, self.path, headers, body))
        said = json.dumps(
            {"id": "q1", "nextUri": f"http://{headers['host']}/v1/statement/queued/q1/x/1"}
        ).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(said)))
        self.send_header("X-Trino-Set-Session", "a=1")
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: Any) -> None:
        return


@dataclass
class Rule:
    """A rewriter that does what it is told."""

    does: Callable[[Statement], str | None]
    name: str = "rule"
    asked: list[Statement] = field(default_factory=list)
    uses: tuple[CubeUse, ...] = ()
    reason: str = ""

    def rewrite(self, statement: Statement) -> Rewriting | None:
        self.asked.append(statement)
        sql = self.does(statement)
        return None if sql is None else Rewriting(sql, self.uses, self.reason)


@pytest.fixture
def coordinator() -> Iterator[Coordinator]:
    with Coordinator() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


Serve = Callable[..., str]


@pytest.fixture
def serve(coordinator: Coordinator) -> Iterator[Serve]:
    """Start a proxy with rewriters; its address is returned."""
    with ExitStack() as proxies:

        def start(
            *rewriters: Rewriter, url: str = "", reports: CubeReports | None = None, **limits: Any
        ) -> str:
            proxy = Proxy(url or coordinator.url, Rewriters(rewriters, **limits), reports)
            return proxies.enter_context(served(proxy))

        yield start


def post(url: str, sql: str | bytes, **headers: str) -> requests.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return requests.post(f"{url}/v1/statement", data=sql, headers=named, timeout=20)


def test_a_query_is_rewritten_and_the_client_goes_on_with_trino(
    serve: Serve, coordinator: Coordinator
) -> None:
    rule = Rule(lambda statement: statement.sql + " -- é")
    answer = post(
        serve(rule),
        SQL,
        X_Trino_User="ann",
        Authorization=SECRET,
        X_Trino_Catalog="lake",
        X_Trino_Session="a=b,c=d",
        X_Forwarded_Host="elsewhere",
    )
    assert answer.status_code == 200
    assert answer.json()["nextUri"].startswith(f"{coordinator.url}/v1/statement/queued/")
    assert answer.headers[MARK] == "rule"
    assert answer.headers["X-Trino-Set-Session"] == "a=1"
    assert answer.raw.headers.getlist("Set-Cookie") == ["a=1", "b=2"]
    ((method, path, headers, body),) = coordinator.seen
    assert (method, path, body) == ("POST", "/v1/statement", f"{SQL} -- é".encode())
    assert headers["authorization"] == SECRET
    assert headers["x-trino-session"] == "a=b,c=d"
    assert headers["host"] == coordinator.url.removeprefix("http://")
    assert not [name for name in headers if name.startswith("x-forwarded")]
    assert rule.asked == [Statement(SQL, "lake", "", "ann")]


@pytest.mark.parametrize(
    "sql",
    [
        *("EXECUTE q USING 5", "EXPLAIN SELECT 1", "DROP TABLE t", "SET SESSION a = 1", "nonsense"),
        b"SELECT '\xff'",
    ],
)
def test_all_else_is_sent_as_it_came(
    serve: Serve, coordinator: Coordinator, sql: str | bytes
) -> None:
    rule = Rule(lambda _: "SELECT 'wrong'")
    answer = post(serve(rule), sql, X_Trino_Prepared_Statement="q=SELECT+%3F")
    assert MARK not in answer.headers
    ((_, _, headers, body),) = coordinator.seen
    assert body == (sql if isinstance(sql, bytes) else sql.encode())
    assert headers["x-trino-prepared-statement"] == "q=SELECT+%3F"
    assert rule.asked == []


def fail(_: Statement) -> str:
    raise RuntimeError(f"the constant of {SQL} is a secret")


def test_an_error_or_a_late_answer_leaves_the_query_as_it_was(
    serve: Serve, coordinator: Coordinator, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def late(_: Statement) -> str:
        time.sleep(1.0)
        return "SELECT 'late'"

    second = Rule(lambda _: "SELECT 'second'", "second")
    for rules in ([Rule(fail)], [Rule(late)], [Rule(lambda _: None)], [Rule(lambda s: s.sql)]):
        assert MARK not in post(serve(*rules, seconds=0.2), SQL, Authorization=SECRET).headers
        assert coordinator.seen[-1][3] == SQL.encode()
    assert post(serve(Rule(fail), second), SQL).headers[MARK] == "second"
    assert "RuntimeError" in caplog.text
    for secret in (SECRET, "id = 5", "logs.lines"):
        assert secret not in caplog.text


def test_a_client_is_told_why_its_query_is_left(
    serve: Serve, coordinator: Coordinator, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told = Rule(lambda s: s.sql, "kept", reason="it has no\r\nSet-Cookie: é of id = 5")
    other = Rule(lambda s: s.sql, "more", reason="it is too old")
    answer = post(serve(told, Rule(lambda _: None), other), SQL)
    reason = "kept: it has no Set-Cookie: ? of id = 5; more: it is too old"
    assert answer.headers[REASON] == reason
    assert MARK not in answer.headers
    assert coordinator.seen[-1][3] == SQL.encode()
    assert "id = 5" not in caplog.text
    assert "a statement: as it is, " in caplog.text

    answer = post(serve(told, Rule(lambda _: "SELECT 'second'", "second")), SQL)
    assert answer.headers[MARK] == "second"
    assert REASON not in answer.headers

    coordinator.status = 401
    assert REASON not in post(serve(told), SQL).headers, "whom Trino does not know is told nothing"


def test_a_rewriter_that_hangs_costs_nothing_once_all_are_busy(
    serve: Serve, coordinator: Coordinator
) -> None:
    freed = threading.Event()
    rule = Rule(lambda _: "SELECT 'hung'" if freed.wait(20) else None)
    url = serve(rule, seconds=0.2, at_once=2)
    for _ in range(5):
        assert MARK not in post(url, SQL).headers
    assert len(rule.asked) == 2
    assert [body for *_, body in coordinator.seen] == [SQL.encode()] * 5
    freed.set()


def test_answers_of_trino_that_refuse_are_handed_back(
    serve: Serve, coordinator: Coordinator
) -> None:
    coordinator.status = 401
    assert post(serve(), SQL).status_code == 401
    coordinator.status = 503
    assert post(serve(), SQL).status_code == 503
    assert len(coordinator.seen) == 2, "a statement is never sent twice"


def test_other_addresses_are_trinos_alone(serve: Serve, coordinator: Coordinator) -> None:
    url = serve()
    assert requests.get(f"{url}/v1/info", timeout=20).status_code == 200
    for path in ("/v1/statement", "/v1/query", "/ui/", "/v1/statement/queued/q1/x/1"):
        refused = requests.get(url + path, timeout=20)
        assert refused.status_code == 404
        assert coordinator.url in refused.json()["message"]
    assert [path for _, path, _, _ in coordinator.seen] == ["/v1/info"]


def test_a_coordinator_that_is_down_is_said(serve: Serve) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        answer = post(serve(url=url), SQL)
    assert answer.status_code == 502
    assert "does not answer" in answer.json()["message"]


@pytest.mark.parametrize("address", ["trino:8080", "ftp://trino", "http://trino/path", ""])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="no address of a coordinator"):
        Proxy(address, Rewriters([]))


USE = CubeUse("6d5c1f5e-7c39-4d3b-9f0a-3e9d1f0c2b11", "c", 1000, 5000, 20, 10, 99)


def accounted(reports: CubeReports, n: int) -> tuple[int, int]:
    until = time.monotonic() + 120
    while reports.sent + reports.lost < n:
        assert time.monotonic() < until
        time.sleep(0.02)
    return reports.sent, reports.lost


def test_what_cubes_answered_is_reported_by_user_without_the_query(
    serve: Serve, coordinator: Coordinator, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("of-the-proxy\n", encoding="utf-8")
    with receiving() as portal:
        reports = CubeReports(portal.address, token_file=tmp_path / "token", token="", seconds=0.05)
        cubed = Rule(lambda statement: f"{statement.sql} -- é", uses=(USE,))
        address = serve(cubed, reports=reports)
        for user in ("ann", "ann", "bob"):
            post(address, SQL, X_Trino_User=user)
        # Trino refuses it, it is not answered; this one no cube answers.
        coordinator.status = 401
        post(address, SQL, X_Trino_User="eve")
        coordinator.status = 200
        post(serve(Rule(lambda statement: f"{statement.sql} -- é"), reports=reports), SQL)
        assert accounted(reports, 3) == (3, 0)
        assert set(portal.tokens) == {"Bearer of-the-proxy"}
        queries: dict[str, int] = {}
        for body in portal.bodies:
            assert UseReportSerializer(data=body).is_valid(raise_exception=True)
            ((one,),) = [table["cubes"] for table in body["tables"]]
            user = body["reader"]["user"]
            queries[user] = queries.get(user, 0) + one["queries"]
            assert (one["cube"], one["rows"]) == ("c", 1000 * one["queries"])
        assert queries == {"ann": 2, "bob": 1}
        assert "logs" not in json.dumps(portal.bodies)
        numbers = [body["sequence"] for body in portal.bodies]
        assert numbers == sorted(set(numbers))


def test_a_portal_that_hangs_or_refuses_delays_no_statement(caplog: Any) -> None:
    with receiving() as portal:
        portal.status = 500
        reports = CubeReports(portal.address, token_file=None, token="t", seconds=0)
        portal.hold.clear()
        reports.add("ann", [USE])
        time.sleep(0.3)
        began = time.monotonic()
        for _ in range(MOST_WAITING + 5):
            reports.add("ann", [USE])
        assert time.monotonic() - began < 2
        assert reports.lost >= 5
        portal.hold.set()
        assert accounted(reports, MOST_WAITING + 6) == (0, MOST_WAITING + 6)
        assert caplog.text.count("is not reported") == 1
