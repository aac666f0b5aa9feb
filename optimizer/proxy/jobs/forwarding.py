"""The proxy: takes a statement, has it rewritten, and sends it to the coordinator (WSGI)."""

import json
import logging
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import urllib3

from optimizer.proxy.domain.headers import Header, as_value, to_client, to_trino
from optimizer.proxy.domain.statements import statement_of
from optimizer.proxy.jobs.reports import CubeReports
from optimizer.proxy.jobs.rewriting import Rewriters

_log = logging.getLogger(__name__)
STATEMENT, INFO = "/v1/statement", "/v1/info"
MARK, REASON = "X-Lakewarden-Rewritten", "X-Lakewarden-Not-Rewritten"
MOST_ANSWER = 64 * 1024 * 1024
_UNSENT = urllib3.Retry(0, redirect=False)
_TIMES = urllib3.Timeout(connect=10, read=120)
StartResponse = Callable[[str, list[Header]], object]


class Proxy:
    """Sends `POST /v1/statement` and `GET /v1/info` to one coordinator, and nothing else."""

    def __init__(
        self, coordinator: str, rewriters: Rewriters, reports: CubeReports | None = None
    ) -> None:
        """`coordinator` is the address by which clients reach it too.

        Raises:
            ValueError: it is no address.
        """
        parts = urlsplit(coordinator)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/"):
            raise ValueError(f"{coordinator} is no address of a coordinator: http[s]://host[:port]")
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._rewriters, self._reports = rewriters, reports
        self._http = urllib3.PoolManager(maxsize=32, block=False)

    def __call__(self, environ: dict[str, Any], start: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        method, path = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        if (method, path) not in {("POST", STATEMENT), ("GET", INFO)}:
            return _refuse(
                start,
                HTTPStatus.NOT_FOUND,
                f"This proxy takes POST {STATEMENT}; ask {self._base} for anything else.",
            )
        sent, body = list(_headers(environ)), b""
        mark: list[Header] = []
        statement = found = None
        if method == "POST":
            body = environ["wsgi.input"].read()
            statement = statement_of({name.lower(): value for name, value in sent}, body)
            if statement and (found := self._rewriters.rewritten(statement)):
                body = found.sql.encode() if found.by else body
                mark = [(MARK, found.by)] if found.by else [(REASON, as_value(found.reason))]
        query = environ.get("QUERY_STRING", "")
        try:
            status, headers, answer = self._forward(
                method, path + (f"?{query}" if query else ""), list(to_trino(sent)), body
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            _log.warning("the coordinator does not answer: %s", type(error).__name__)
            return _refuse(
                start,
                HTTPStatus.BAD_GATEWAY,
                f"Trino at {self._base} does not answer. See whether it runs before you repeat a "
                "statement that writes.",
            )
        if self._reports and statement and found and status.startswith("200"):
            self._reports.add(statement.user, found.uses)
        if found and found.reason and not status.startswith("200"):
            mark = []  # Trino did not take it: whoever asks need not be anybody it knows.
        start(status, [*headers, *mark])
        return [answer]

    def _forward(
        self, method: str, target: str, headers: list[Header], body: bytes
    ) -> tuple[str, list[Header], bytes]:
        """Send once, never again: a statement may write."""
        given = urllib3.HTTPHeaderDict(headers)
        answer = self._http.request(
            method,
            self._base + target,
            body=body or None,
            headers=given,
            redirect=False,
            retries=_UNSENT,
            timeout=_TIMES,
            preload_content=False,
            decode_content=False,
        )
        try:
            # As it came, compressed or not.
            content = answer.read(MOST_ANSWER + 1, decode_content=False)
        finally:
            answer.release_conn()
        if len(content) > MOST_ANSWER:
            raise urllib3.exceptions.HTTPError("the answer is too long")
        kept = [
            (name, value)
            for name, value in to_client(answer.headers.items())
            if name.lower() != "content-length"
        ]
        kept.append(("Content-Length", str(len(content))))
        return f"{answer.status} {answer.reason or ''}".strip(), kept, content


def _headers(environ: dict[str, Any]) -> Iterable[Header]:
    for key, value in environ.items():
        if key.startswith("HTTP_"):
            yield key[5:].replace("_", "-").title(), value
    for key in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(key):
            yield key.replace("_", "-").title(), environ[key]


def _refuse(start: StartResponse, status: HTTPStatus, message: str) -> Iterable[bytes]:
    said = json.dumps({"message": message}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(said)))]
    start(f"{status.value} {status.phrase}", headers)
    return [said]
