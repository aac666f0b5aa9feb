"""Sets the user of each call to HDFS, although the library knows only one per process.

hdfs-native reads HADOOP_USER_NAME whenever it opens a connection to the NameNode: at its first
call, and again after every connection that was lost or idle for long. So the name stands in the
environment as long as a call of that user is under way, and calls of another user wait for it. They
begin in the order in which they came: a user whose calls hang holds up others by one call, not for
as long as there is always another one of them.

The variable is never absent: whoever reads the whole environment meanwhile, as libraries do that
look for proxies, would fail on a name that goes away between its listing and its reading.
"""

import os
import pwd
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "HADOOP_USER_NAME"


def process_user() -> str:
    """Return the user that the library takes where the variable is not set."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return "unknown"  # the library's own word for an account without a name


class Turns:
    """Lets calls of one user run side by side, and those of another after them, in their order."""

    def __init__(self) -> None:
        self._before = os.environ.setdefault(VARIABLE, process_user())
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()
        self._user: str | None = None
        self._n_calls = 0
        self._own = threading.local()

    @contextmanager
    def of(self, user: str | None) -> Iterator[None]:
        """Make calls as `user` within the block; None = as whoever the process is.

        A block within a block of the same thread is part of it.
        """
        if getattr(self._own, "is_inside", False):
            yield
            return
        self._enter(user)
        self._own.is_inside = True
        try:
            yield
        finally:
            self._own.is_inside = False
            with self._changed:
                self._n_calls -= 1
                if not self._n_calls:
                    self._end()

    def _enter(self, user: str | None) -> None:
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                self._changed.wait_for(
                    lambda: self._queue[0] is ticket and (not self._n_calls or self._user == user)
                )
            finally:  # a wait that is broken off leaves nobody behind it waiting
                self._queue.remove(ticket)
                self._changed.notify_all()
            if not self._n_calls:
                self._begin(user)
            self._n_calls += 1

    def _begin(self, user: str | None) -> None:
        self._user, self._before = user, os.environ.get(VARIABLE) or process_user()
        os.environ[VARIABLE] = self._before if user is None else user

    def _end(self) -> None:
        os.environ[VARIABLE] = self._before
        self._changed.notify_all()


turns = Turns()
