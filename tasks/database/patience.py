"""Lets commands wait for statements that take long, as changes of big tables do."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from portal.settings.databases import ANSWER_LIMITS


@contextmanager
def without_answer_limit() -> Iterator[None]:
    """Wait for the portal's database for as long as it takes, until the block ends.

    A transaction that is open keeps its connection, and so its limits.
    """
    options = connection.settings_dict["OPTIONS"]
    limits = {name: options.pop(name) for name in ANSWER_LIMITS if name in options}
    if not limits:
        yield
        return
    _connect_anew()
    try:
        yield
    finally:
        options.update(limits)
        _connect_anew()


def _connect_anew() -> None:
    if not connection.in_atomic_block:
        connection.close()
