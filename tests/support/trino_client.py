"""Speaks Trino's client protocol: sends a statement, follows the answers' own addresses."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests

LONGEST_SECONDS = 120.0


class QueryFailedError(Exception):
    """Trino answered with an error; the text is Trino's."""


@dataclass(frozen=True)
class Answer:
    """Rows and figures of one query."""

    rows: list[list[Any]]
    columns: list[str]
    physical_bytes: int
    splits: int
    query_id: str
    addresses: list[str]
    """Where the client was sent on to, in order."""


@dataclass(frozen=True)
class TrinoClient:
    """One user's connection."""

    url: str
    headers: Mapping[str, str]

    @classmethod
    def at(cls, url: str, **headers: str) -> "TrinoClient":
        """`headers`: X-Trino-..., such as `catalog="lake"`."""
        named = {f"X-Trino-{name.replace('_', '-')}": value for name, value in headers.items()}
        return cls(url, {"X-Trino-User": "analyst", **named})

    def run(self, sql: str) -> Answer:
        """Run a statement to its end.

        Raises:
            QueryFailedError: Trino refused it.
        """
        sent = requests.post(
            f"{self.url}/v1/statement", data=sql.encode(), headers=dict(self.headers), timeout=60
        )
        sent.raise_for_status()
        body: dict[str, Any] = sent.json()
        rows: list[list[Any]] = []
        columns: list[str] = []
        addresses: list[str] = []
        deadline = time.monotonic() + LONGEST_SECONDS
        while True:
            if "error" in body:
                raise QueryFailedError(body["error"]["message"])
            columns = [one["name"] for one in body.get("columns", [])] or columns
            rows += body.get("data", [])
            if "nextUri" not in body:
                break
            assert time.monotonic() < deadline, "the query does not end"
            addresses.append(body["nextUri"])
            body = requests.get(body["nextUri"], headers=dict(self.headers), timeout=60).json()
        stats = body["stats"]
        return Answer(
            rows,
            columns,
            stats["physicalInputBytes"],
            stats["completedSplits"],
            body["id"],
            addresses,
        )
