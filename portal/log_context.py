"""Holds what a log line belongs to: a run, a lake, a request, a person.

Whoever begins a piece of work binds its fields once; a filter adds them to every line that is
logged until it ends, in this thread and in what it calls. Imports nothing of the portal, because
drivers and settings use it too.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

Value = str | Callable[[], str]
"""A field; a function is asked when a line is logged, for what is known only later."""

FIELDS = (
    "request", "person", "run", "attempt", "kind", "lake", "task", "notice", "pipeline", "cluster",
    "method", "route", "status", "ms",
)  # fmt: skip
"""Every field that a line may have beside its message. What libraries add is left out: Django's
`request` has the query string, and with it codes of a log-in."""

OF_REQUEST = "lakewarden.log"
"""Under this name a request's META keeps its fields."""
_NOTHING: Mapping[str, Value] = MappingProxyType({})
_bound: ContextVar[Mapping[str, Value]] = ContextVar("lakewarden_log", default=_NOTHING)
_of_process: dict[str, str] = {}


@contextmanager
def bound(**fields: Value) -> Iterator[None]:
    """Add fields to every line until the block ends; inner ones win, an empty one adds nothing."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def bind_process(**fields: str) -> None:
    """Add fields to every line of this process, its other threads included."""
    _of_process.update(fields)


def context() -> dict[str, str]:
    """Return the fields that hold now, in the order of `FIELDS`, without empty ones."""
    found = {**_of_process, **_bound.get()}
    said = {name: found[name] for name in FIELDS if name in found}
    told = {name: value() if callable(value) else value for name, value in said.items()}
    return {name: value for name, value in told.items() if value}


class ContextFilter(logging.Filter):
    """Notes on each record what it belongs to; lets every record through."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Note the fields, unless they were noted before.

        Django logs a refused request once all that was bound is over, and gives the request along.
        """
        if not hasattr(record, "lakewarden"):
            answered = getattr(getattr(record, "request", None), "META", {})
            with bound(**answered.get(OF_REQUEST, {})):
                record.lakewarden = context()
        return True
