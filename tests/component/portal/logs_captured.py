"""Captures the log as a process writes it: JSON lines of the portal's own handler."""

import io
import json
import logging
import logging.config
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from portal.settings.logs import logging_config


class Captured:
    """What was logged meanwhile."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    def lines(self) -> list[dict[str, Any]]:
        """Return every line; one that is no JSON object fails."""
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]

    def of(self, logger: str) -> list[dict[str, Any]]:
        """Return the lines of one logger."""
        return [line for line in self.lines() if line["logger"] == logger]


@contextmanager
def captured() -> Iterator[Captured]:
    """Have the root logger write as in production, to memory."""
    stream = io.StringIO()
    built = logging.config.DictConfigurator(logging_config("json"))
    handler = logging.StreamHandler(stream)
    handler.setFormatter(built.configure_formatter(built.config["formatters"]["json"]))
    handler.addFilter(built.configure_filter(built.config["filters"]["context"]))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield Captured(stream)
    finally:
        root.removeHandler(handler)
