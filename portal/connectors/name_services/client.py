"""Gives every call to a name service an end, and asks another NameNode first after silence.

hdfs-native repeats a call only where it is known not to have happened: after a standby's answer,
and where no connection came about. But it waits for an answer as long as it takes, and a NameNode
that is frozen, or whose host lost its power, never gives one.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import hdfs_native

DEADLINE_SECONDS = 60.0
"""Longer than the library tries NameNodes in turn: only an answer that never comes meets it."""

T = TypeVar("T")


class NameServiceClient:
    """A client whose calls raise TimeoutError when no answer came; the call may still happen.

    `make(n)` returns a client that asks the n-th NameNode first.
    """

    def __init__(
        self,
        make: Callable[[int], hdfs_native.Client],
        *,
        deadline_seconds: float | None = None,
    ) -> None:
        self._make = make
        self._deadline_seconds = deadline_seconds or DEADLINE_SECONDS
        self._lock = threading.Lock()
        self._n = 0
        self._client = make(0)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def ask(*args: Any, **options: Any) -> Any:
            return self.within(lambda client: getattr(client, name)(*args, **options))

        return ask

    def list_status(self, path: str) -> list[hdfs_native.FileStatus]:
        """List a directory whole: the library's iterator asks again and again."""
        return self.within(lambda client: list(client.list_status(path)))

    def within(self, work: Callable[[hdfs_native.Client], T]) -> T:
        """Return what `work` does with the client, which takes several calls maybe."""
        n, client = self._n, self._client
        answer: Future[T] = Future()
        threading.Thread(target=_fulfil, args=(answer, work, client), daemon=True).start()
        try:
            return answer.result(timeout=self._deadline_seconds)
        except TimeoutError:
            if answer.done():
                raise
            self._turn_from(n)
            raise TimeoutError(
                f"no answer within {self._deadline_seconds:.0f} s from the NameNode"
            ) from None

    def _turn_from(self, n: int) -> None:
        """Take a new client: the connection of the old one is as silent as its call."""
        with self._lock:
            if self._n == n:
                self._client = self._make(n + 1)
                self._n = n + 1


def _fulfil(
    answer: Future[T], work: Callable[[hdfs_native.Client], T], client: hdfs_native.Client
) -> None:
    try:
        answer.set_result(work(client))
    except BaseException as error:  # whatever it is belongs to the caller
        answer.set_exception(error)
