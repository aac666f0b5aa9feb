"""A database that restarted, as a thread sees it that holds a line to it."""

import sqlite3
from typing import Any


class LostLine:
    """A driver's connection that is gone; asked again, PyMySQL says so by another error."""

    def __init__(self, *first: Exception) -> None:
        self.errors = list(first)

    def cursor(self, *_: Any, **__: Any) -> Any:
        raise self.errors.pop(0) if self.errors else sqlite3.InterfaceError(0, "")

    def close(self) -> None:
        """As drivers do with what is closed already."""
