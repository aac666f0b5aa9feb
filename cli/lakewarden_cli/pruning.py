"""Has a query of Trino or Spark narrowed to the data files that its conditions can match."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakewarden_cli.errors import CliError, NotYetError
from lakewarden_cli.portal import Portal, api
from lakewarden_cli.sessions import Session

_FINAL = ("DONE", "FAILED", "CANCELLED")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 3.0


@dataclass(frozen=True, slots=True)
class PrunedQuery:
    """The query to be run instead, and what became of each table in it."""

    sql: str
    tables: Sequence[Mapping[str, Any]]
    """One a place where a table is read: `table`, `n_files`, `n_kept`, `n_bytes`, `kept_bytes`,
    `dropped` and `unused` by index, and `whole`: why it is read as before (empty: it is not)."""

    @property
    def is_narrowed(self) -> bool:
        """Whether any table is read less of."""
        return any(not one["whole"] for one in self.tables)


def prune(
    sql: str, dialect: str = "trino", *, server: str, token: str, timeout: float = 120, **how: Any
) -> PrunedQuery:
    """Have a query narrowed; it returns when that is done.

    Args:
        sql: One SELECT.
        dialect: `trino` or `spark`.
        server: The portal's address.
        token: An API token with the scope `prune`.
        timeout: Seconds to wait at most.
        how: `lake`; `catalog`, the engine's name of the lake; `schema`, the session's schema;
            `max_files`, above which a table is read as before.

    Raises:
        CliError: it was refused or failed; the message says why.
        NotYetError: it took longer than `timeout`.
    """
    return prune_by(Portal(Session(server.rstrip("/")), token=token), sql, dialect, timeout, **how)


def prune_by(portal: Portal, sql: str, dialect: str, timeout: float, **how: Any) -> PrunedQuery:
    """Have a query narrowed by a portal that one is signed in to; as `prune`."""
    until = time.monotonic() + timeout
    lake = how.pop("lake", "")
    body = {"sql": sql, "dialect": dialect, **{key: one for key, one in how.items() if one}}
    found = portal.post(api("optimizer", "prune"), body, lake=lake)
    pause = _FIRST_PAUSE
    while found["state"] not in _FINAL:
        if time.monotonic() + pause > until:
            raise NotYetError(
                f"The query was not narrowed within {timeout:g} s; its run is {found['id']}."
            )
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)
        found = portal.get(api("optimizer", "prune", found["id"]))
    if found["state"] != "DONE" or found["narrowed"] is None:
        reason = (found["error"] or {}).get("message") or f"Its run ended as {found['state']}."
        raise CliError(f"The query was not narrowed. {reason}")
    return PrunedQuery(found["narrowed"], found["tables"])
