"""Order in which a service's transactions lock tables. Read from the SQL that Django sends."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any

from django.db import connection, transaction

_LOCKING = re.compile(
    r"^(?P<verb>UPDATE|DELETE FROM|INSERT INTO|SELECT .* FROM) `(?P<table>\w+)`", re.DOTALL
)
Execute = Callable[[str, Any, bool, dict[str, Any]], Any]


class LockOrder:
    """The tables that each transaction locked, in the order of the first lock on each."""

    def __init__(self) -> None:
        self.transactions: list[list[str]] = []
        self._open: list[str] | None = None
        self._made: set[str] = set()

    def note(self, execute: Execute, sql: str, params: Any, many: bool, context: Any) -> Any:
        """Be the wrapper of every statement."""
        found = _LOCKING.match(sql)
        if not connection.in_atomic_block:
            self._open = None
        elif found is not None:
            self._in_transaction()
            table, verb = found["table"], found["verb"]
            if verb.startswith("INSERT"):
                self._made.add(table)
            elif not verb.startswith("SELECT") or "FOR UPDATE" in sql:
                self._locked(table)
        return execute(sql, params, many, context)

    def pairs(self) -> set[tuple[str, str]]:
        """Return every (earlier, later) that some transaction showed."""
        return {pair for tables in self.transactions for pair in combinations(tables, 2)}

    def _in_transaction(self) -> None:
        if self._open is None:
            self._open, self._made = [], set()
            self.transactions.append(self._open)
            transaction.on_commit(self._end)

    def _locked(self, table: str) -> None:
        # What this transaction inserted itself is locked by nobody else.
        if self._open is not None and table not in self._open and table not in self._made:
            self._open.append(table)

    def _end(self) -> None:
        self._open = None


@contextmanager
def lock_order() -> Iterator[LockOrder]:
    """Note the locks that this thread's statements take within the block."""
    order = LockOrder()
    with connection.execute_wrapper(order.note):
        yield order
