"""Gives every lake its own turn, so that one whose systems hang holds up no other.

With one lake the turn runs in the loop's own thread. With several each turn of a lake has its own;
the loop goes on without waiting, and a lake whose last turn is not over is left out meanwhile.
"""

import logging
import threading
from collections.abc import Callable, Iterable

from django.db import connection

from portal.access.lakes import several_lakes
from portal.log_context import bound

_log = logging.getLogger(__name__)
LONG_SECONDS = 1.0


class EachLake:
    """The turns of one loop, lake by lake."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._threads: dict[str, threading.Thread] = {}

    def turn(self, lakes: Iterable[str], work: Callable[[str], object]) -> None:
        """Work for each lake that is free; returns at the latest `LONG_SECONDS` later.

        What is left over goes on by itself. An error of one lake is logged and costs its turn.
        """
        free = [lake for lake in sorted(lakes) if not self._is_at_work(lake)]
        if not several_lakes():
            for lake in free:
                with bound(lake=lake):
                    work(lake)
            return
        for thread in [self._begin(lake, work) for lake in free]:
            thread.join(LONG_SECONDS / len(free))

    def _is_at_work(self, lake: str) -> bool:
        return lake in self._threads and self._threads[lake].is_alive()

    def _begin(self, lake: str, work: Callable[[str], object]) -> threading.Thread:
        name = f"{self._name}:{lake}"
        thread = threading.Thread(target=self._work, args=(lake, work), name=name, daemon=True)
        self._threads[lake] = thread
        thread.start()
        return thread

    def _work(self, lake: str, work: Callable[[str], object]) -> None:
        try:
            with bound(lake=lake):
                work(lake)
        except Exception:
            # The outer door of a lake's turn: its next one begins afresh.
            _log.exception("%s of %s: a turn failed", self._name, lake)
        finally:
            connection.close()
