"""Runs a transaction again that the database ended for another one that it met."""

from collections.abc import Callable
from typing import TypeVar

from django.db import OperationalError, connection, transaction

MOST_TRIES = 10
DEADLOCK = 1213
"""MySQL's and MariaDB's number of a deadlock; SQLite has one writer at a time, and none."""
Result = TypeVar("Result")


def transaction_run(work: Callable[[], Result]) -> Result:
    """Do work in a transaction, and again where it was the victim of a deadlock.

    The database has then taken back all of it. Two that make the first sums of a day meet so: each
    has seen that there are none. Inside a transaction the error goes on to whoever began that.
    """
    n_tries = 1 if connection.in_atomic_block else MOST_TRIES
    for left in reversed(range(n_tries)):
        try:
            with transaction.atomic():
                return work()
        except OperationalError as error:
            if not left or not error.args or error.args[0] != DEADLOCK:
                raise
    raise AssertionError("there is one try at least")
