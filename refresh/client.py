"""Client by which a scheduler reports to the portal what a job has just written.

It needs only the standard library.

Copy this file beside the jobs; it imports nothing of the product, its errors included. It tells
`POST /api/refresh/` a table and its partitions (parts of names will do), and may be called again
after any failure: the same table and partitions wait once, however often they are told. The token
comes from a file that only its owner may read, never from an argument.

    python client.py --url https://portal.example.com --token-file token --table shop.sales
    python client.py ... --partition dt=2026-11-21 --wait 600    # until every front end shows it
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

ADDRESS = "/api/refresh/"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_WAIT = ADDRESS + "wait"
_COME_AGAIN = (429, 502, 503, 504)
_LONGEST_WAIT = 60.0
_MOST_BYTES = 1_000_000


class RefreshError(Exception):
    """What went wrong and what to do; `is_temporary` tells a busy portal from a wrong request."""

    def __init__(self, message: str, *, is_temporary: bool, status: int = 0) -> None:
        super().__init__(message)
        self.is_temporary = is_temporary
        self.status = status


class _NoRedirect(HTTPRedirectHandler):
    """A redirected POST loses its body, and might carry the token to somebody else."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Follow nothing."""


@dataclass(frozen=True, slots=True)
class Portal:
    """Where the portal is, who we are, and how long we try (seconds) before we give up."""

    url: str
    token: str = field(repr=False)
    timeout: float = 60.0
    patience: float = 120.0
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        is_safe = parts.scheme == "https" or (
            parts.scheme == "http" and parts.hostname in _LOOPBACK
        )
        if not is_safe or not parts.hostname:
            raise RefreshError(
                f"{self.url!r} is no address to send a token to. Use https://host.",
                is_temporary=False,
            )
        if not self.token or not self.token.isascii() or not self.token.isprintable():
            raise RefreshError(
                "The token is empty or holds more than plain letters and digits. Ask an operator "
                "of the portal for one.",
                is_temporary=False,
            )

    def tell(self, table: str, partitions: Sequence[str] = (), *, lake: str = "") -> dict[str, Any]:
        """Tell what was written, and give the portal's answer; waits and repeats while it is busy.

        Where the portal governs several lakes, `lake` says which one.

        Raises:
            RefreshError: refused, or not taken in within the patience.
        """
        body = {"table": table, "partitions": list(partitions), **({"lake": lake} if lake else {})}
        try:
            return self._repeat(ADDRESS, body, time.monotonic() + self.patience)
        except _ComeAgain as busy:
            raise RefreshError(
                f"The portal did not take in {table} after {busy.n_tries} tries: {busy} "
                "- tell it again later; until then front ends may show what was before.",
                is_temporary=True,
                status=busy.status,
            ) from busy

    def wait(
        self,
        told: dict[str, Any],
        partitions: Sequence[str] = (),
        *,
        seconds: float,
        is_strict: bool = True,
    ) -> dict[str, Any]:
        """Wait until what was told (`tell`'s answer) is visible on every live front end.

        The portal's last answer: `is_visible`, and where not, who lacks it. Without `is_strict` the
        caller may go on after the time-out; `may_go_on` says so.

        Raises:
            RefreshError: refused, or the portal was not there all the time.
        """
        if not told.get("shown_as", True):
            return {"is_visible": False, "is_over": True, "may_go_on": True, "clusters": []}
        give_up_at = time.monotonic() + seconds
        body = {name: told[name] for name in ("lake", "table", "written_at")}
        while True:
            left = max(0.0, give_up_at - time.monotonic())
            asked = {"partitions": list(partitions), "timeout": left, "strict": is_strict}
            try:
                answer = self._repeat(_WAIT, {**body, **asked}, give_up_at)
            except _ComeAgain as busy:
                raise RefreshError(
                    f"The portal could not say whether {body['table']} is visible: {busy}",
                    is_temporary=True,
                    status=busy.status,
                ) from busy
            if answer.get("is_over") or not left:
                return answer
            self.pause(min(left, max(0.1, float(answer.get("ask_again_seconds") or 0))))

    def _repeat(self, address: str, body: dict[str, Any], give_up_at: float) -> dict[str, Any]:
        n_tries = 0
        while True:
            n_tries += 1
            try:
                return self._post(address, body)
            except _ComeAgain as busy:
                busy.n_tries = n_tries
                wait = busy.after if busy.after is not None else backoff(n_tries)
                if time.monotonic() + wait > give_up_at:
                    raise
                self.pause(wait)

    def _post(self, address: str, body: dict[str, Any]) -> dict[str, Any]:
        request = Request(  # noqa: S310  (the scheme was checked above)
            self.url.rstrip("/") + address,
            data=json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "Accept": "application/json",
            },
            method="POST",
        )
        try:
            with build_opener(_NoRedirect).open(request, timeout=self.timeout) as answer:
                return _read(answer.read(_MOST_BYTES))
        except HTTPError as error:
            with error:
                raise _refusal(error) from error
        except (URLError, HTTPException, OSError) as error:
            raise _ComeAgain(f"{self.url} does not answer ({error})") from error


class _ComeAgain(Exception):
    """Not now: after so many seconds, where the portal says so."""

    def __init__(self, reason: str, *, status: int = 0, after: float | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.after = after
        self.n_tries = 1


def backoff(n_tries: int) -> float:
    """Say how long to wait after so many tries; half of it by lot, so that jobs spread."""
    return min(_LONGEST_WAIT, 2.0 ** min(n_tries - 1, 10)) * (0.5 + random.random() / 2)  # noqa: S311  (spreads load, guards nothing)


def _refusal(error: HTTPError) -> Exception:
    try:
        said = _read(error.read(_MOST_BYTES))
    except (RefreshError, HTTPException, OSError):
        said = {}
    message = str(said.get("message") or said.get("detail") or error.reason)
    if error.code in _COME_AGAIN:
        after = error.headers.get("Retry-After", "")
        seconds = min(_LONGEST_WAIT, float(after)) if after.isdecimal() else None
        return _ComeAgain(f"{error.code} {message}", status=error.code, after=seconds)
    hint = {
        401: " The token is wrong or has ended: ask an operator of the portal for a new one.",
        403: " The token may not refresh this table: ask an operator of the portal.",
        404: " Check the address, the lake and the table.",
    }.get(error.code, "")
    return RefreshError(
        f"The portal refused ({error.code}): {message}{hint}",
        is_temporary=False,
        status=error.code,
    )


def _read(raw: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(raw)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise RefreshError(
            "What answered is not the portal: its answer is no JSON object. Check the address.",
            is_temporary=False,
        )
    return answer


def read_token(path: Path) -> str:
    """Read a token from a file that nobody else may read."""
    try:
        if path.stat().st_mode & 0o077:
            raise RefreshError(
                f"{path} can be read by others. Run: chmod 600 {path}", is_temporary=False
            )
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise RefreshError(
            f"The token cannot be read from {path}: {error}", is_temporary=False
        ) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell, and perhaps wait, from a command line.

    0 = taken in (with --wait: visible, or best effort and told who lacks it), 1 = refused,
    2 = wrong arguments, 3 = taken in but not visible in time, 75 = try again later.
    """
    parser = argparse.ArgumentParser(description="Tell the portal what a job has written.")
    parser.add_argument("--url", required=True)
    parser.add_argument("--token-file", required=True, type=Path)
    parser.add_argument("--lake", default="", help="needed where the portal has several")
    parser.add_argument("--table", required=True, help="db.table")
    parser.add_argument(
        "--partition", action="append", default=[], help="dt=2026-11-21; may repeat"
    )
    parser.add_argument("--patience", type=float, default=120.0, help="seconds (120)")
    parser.add_argument("--wait", type=float, help="seconds until every front end must show it")
    parser.add_argument(
        "--best-effort", action="store_true", help="after --wait go on, told who lacks it"
    )
    asked = parser.parse_args(arguments)
    try:
        portal = Portal(asked.url, read_token(asked.token_file), patience=asked.patience)
        answer = portal.tell(asked.table, asked.partition, lake=asked.lake)
        if asked.wait is not None:
            answer = portal.wait(
                answer, asked.partition, seconds=asked.wait, is_strict=not asked.best_effort
            )
    except RefreshError as error:
        sys.stderr.write(f"{error}\n")
        return 75 if error.is_temporary else 1
    sys.stdout.write(f"{json.dumps(answer)}\n")
    return 0 if asked.wait is None or answer.get("may_go_on") else 3


if __name__ == "__main__":
    sys.exit(main())
