"""Asks rewriters within a time limit; a late or failed one leaves the statement as it is."""

import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from optimizer.proxy.domain.statements import Rewriter, Statement
from optimizer.proxy.domain.uses import CubeUse

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rewritten:
    """A statement's new text, and which rewriter wrote it; none did where `by` is empty."""

    sql: str
    by: str
    uses: tuple[CubeUse, ...] = ()
    reason: str = ""
    """Why rewriters that know its tables left it as it is; may hold constants of the query."""


class Rewriters:
    """The registered rewriters, asked in order; the first that has an answer wins.

    At most `at_once` statements are being rewritten; one that comes while all of these are busy is
    passed on, so a rewriter that hangs costs each client at most `seconds`, and soon nothing.
    """

    def __init__(
        self, rewriters: Sequence[Rewriter], *, seconds: float = 2.0, at_once: int = 4
    ) -> None:
        self._rewriters = tuple(rewriters)
        self._seconds = seconds
        self._free = threading.BoundedSemaphore(at_once)
        self._pool = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="rewrite")

    def rewritten(self, statement: Statement) -> Rewritten | None:
        """Return the statement rewritten in time, or why it was not; None: nobody says anything.

        Logs no text of any statement.
        """
        if not self._free.acquire(blocking=False):
            _log.warning("a statement was passed on: rewriters are busy")
            return None
        began = time.monotonic()
        asked: Future[Rewritten | None] = self._pool.submit(self._first, statement)
        asked.add_done_callback(lambda _: self._free.release())
        try:
            found = asked.result(timeout=self._seconds)
        except TimeoutError:
            _log.warning("a statement was passed on: rewriting took over %g s", self._seconds)
            return None
        milliseconds = (time.monotonic() - began) * 1000
        _log.info("a statement: %s, %d ms", (found and found.by) or "as it is", milliseconds)
        return found

    def _first(self, statement: Statement) -> Rewritten | None:
        reasons: list[str] = []
        for one in self._rewriters:
            try:
                found = one.rewrite(statement)
            except Exception as error:
                # An outer door: no rewriter may cost a client its query. The message is not
                # logged, for it may hold constants of the query.
                kind = getattr(error, "code", type(error).__name__)
                _log.warning("the rewriter %s failed: %s", one.name, kind)
                continue
            if found is not None and found.sql != statement.sql:
                return Rewritten(found.sql, one.name, found.uses)
            if found is not None and found.reason:
                reasons.append(f"{one.name}: {found.reason}")
        return Rewritten(statement.sql, "", reason="; ".join(reasons)) if reasons else None
