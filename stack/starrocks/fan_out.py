"""Passes a refresh on from the front end that took it, and reports those that failed.

It refreshes itself first; if that fails nobody is asked. Then it asks all registered ones of other
hosts at once, alive or not, and waits for all; nothing is rolled back.
"""

import queue
import threading
import time
from collections.abc import Sequence

from stack.starrocks import texts
from stack.starrocks.front_end import FrontEnd, Life, ProcessEnded, Target
from stack.starrocks.texts import SqlError

_REFUSED = "java.net.ConnectException: Connection refused"
_NO_PORT = "Invalid port 0"
_CLOSED = "Socket is closed by peer."
_TIMED_OUT = "java.net.SocketTimeoutException: Read timed out"


def refresh(
    target: Target, *, coordinator: FrontEnd, registered: Sequence[FrontEnd], query_timeout: float
) -> None:
    """Refresh the taker, then all others; SqlError 5074 names those that failed."""
    n_lives = coordinator.n_lives
    coordinator.refresh(target)
    coordinator.pause(n_lives)
    until = time.monotonic() + query_timeout + coordinator.spec.timings.rpc_timeout
    asked = [
        (fe, _ask(fe, target, coordinator)) for fe in registered if fe.host != coordinator.host
    ]
    failures = []
    for fe, answer in asked:
        why = _wait(answer, until)
        if why is None:
            coordinator.pooled.add(fe.name)
        else:
            coordinator.pooled.discard(fe.name)
            failures.append((fe.host, why))
    coordinator.pause(n_lives)
    if failures:
        raise texts.partial(failures)


Answer = queue.SimpleQueue[str | None]


def _ask(fe: FrontEnd, target: Target, coordinator: FrontEnd) -> Answer:
    answer: Answer = queue.SimpleQueue()
    if fe.life is Life.UNSTARTED:
        answer.put(_NO_PORT)
        return answer
    if fe.life is Life.DEAD:
        answer.put(_CLOSED if fe.name in coordinator.pooled else _REFUSED)
        return answer
    arguments = (fe, fe.n_lives, target, answer)
    threading.Thread(target=_serve, args=arguments, daemon=True, name=f"rpc {fe.name}").start()
    return answer


def _serve(fe: FrontEnd, n_lives: int, target: Target, answer: Answer) -> None:
    try:
        fe.pause(n_lives)
        fe.refresh_as_asked(target)
        fe.pause(n_lives)
    except SqlError as error:
        answer.put(str(error))
    except ProcessEnded:
        answer.put(_CLOSED)
    else:
        answer.put(None)


def _wait(answer: Answer, until: float) -> str | None:
    try:
        return answer.get(timeout=max(0.0, until - time.monotonic()))
    except queue.Empty:
        return _TIMED_OUT
