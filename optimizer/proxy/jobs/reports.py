"""Reports to the portal what cubes answered: counts by user and cube, no text of a query."""

import json
import logging
import queue
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

import urllib3

from optimizer.proxy.domain.uses import CubeUse

_log = logging.getLogger(__name__)
APPLICATION = "trino-proxy"
MOST_WAITING = 256
MOST_USER = 150
_SECONDS_BETWEEN_WARNINGS = 300
_TIMES = urllib3.Timeout(connect=3, read=5)
_ONCE = urllib3.Retry(0, redirect=False)
_SUMMED = ("rows", "bytes", "fresh_rows", "cube_rows", "cube_bytes")
Sums = dict[str, dict[tuple[str, str], dict[str, int]]]


class CubeReports:
    """Gathers for some seconds and sends once; what cannot be sent is counted and let go.

    A thread of its own sends, so no statement waits. A full queue loses what comes.
    """

    def __init__(self, uri: str, *, token_file: Path | None, token: str, seconds: float = 5):
        """`token_file` is read each time, so that a token may be changed; else `token` is sent."""
        self._uri, self._token_file, self._token = uri, token_file, token
        self._seconds = seconds
        self._waiting: queue.Queue[tuple[str, CubeUse]] = queue.Queue(MOST_WAITING)
        self._http = urllib3.PoolManager()
        self._sender, self._sequence = str(uuid4()), 0
        self._warned_at: float | None = None
        self.sent = self.lost = 0
        threading.Thread(target=self._run, name="cube-reports", daemon=True).start()

    def add(self, user: str, uses: Iterable[CubeUse]) -> None:
        """Take in what one statement of a user had."""
        for use in uses:
            try:
                self._waiting.put_nowait((user, use))
            except queue.Full:
                self.lost += 1

    def _run(self) -> None:
        while True:
            batch = [self._waiting.get()]
            time.sleep(self._seconds)
            while not self._waiting.empty():
                batch.append(self._waiting.get())
            self._send(batch)

    def _send(self, batch: list[tuple[str, CubeUse]]) -> None:
        left = len(batch)
        try:
            for user, tables in summed(batch).items():
                self._post(user, tables)
                n_sent = sum(one["queries"] for one in tables.values())
                left -= n_sent
                self.sent += n_sent
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            self.lost += left
            now = time.monotonic()
            if self._warned_at is None or now - self._warned_at > _SECONDS_BETWEEN_WARNINGS:
                self._warned_at = now
                _log.warning("what cubes answered is not reported: %s", type(error).__name__)

    def _post(self, user: str, tables: dict[tuple[str, str], dict[str, int]]) -> None:
        self._sequence += 1
        said = {
            "sender": self._sender,
            "sequence": self._sequence,
            "reader": {"engine": "trino", "application": APPLICATION, "user": user},
            "tables": [
                {"table_uuid": uuid, "cubes": [{"cube": cube, **counts}]}
                for (uuid, cube), counts in tables.items()
            ],
        }
        answer = self._http.request(
            "POST",
            self._uri,
            body=json.dumps(said).encode(),
            headers={"Content-Type": "application/json", **self._authorization()},
            timeout=_TIMES,
            retries=_ONCE,
            redirect=False,
        )
        if answer.status // 100 != 2:
            raise ValueError(f"it answers {answer.status}")

    def _authorization(self) -> dict[str, str]:
        file = self._token_file
        token = self._token if file is None else file.read_text(encoding="utf-8")
        return {"Authorization": f"Bearer {token.strip()}"} if token.strip() else {}


def summed(batch: Iterable[tuple[str, CubeUse]]) -> Sums:
    """Return the counts by user, then by table and cube."""
    found: Sums = {}
    for user, use in batch:
        cubes = found.setdefault(user.replace("\0", "").strip()[:MOST_USER], {})
        counts = cubes.setdefault((use.table_uuid, use.cube), dict.fromkeys(_SUMMED, 0))
        values: dict[str, Any] = asdict(use)
        for name in _SUMMED:
            counts[name] += values[name]
        counts["queries"] = counts.get("queries", 0) + 1
    return found
