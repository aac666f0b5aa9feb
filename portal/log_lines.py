"""Keeps each message of the server's log on one line, whatever a name or address contains.

Two forms: text for people at a terminal, JSON for collectors. Both take secrets out of what they
write, and both say what a line belongs to (`portal/log_context.py`).
"""

import json
import logging
import re
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from pythonjsonlogger.core import BaseJsonFormatter

from portal.log_context import FIELDS
from portal.runs.records.secrets import without_secrets

_SPELLED = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_SPELLED |= {code: f"\\u{code:04x}" for code in (0x2028, 0x2029)}
# Addresses that open something without a log-in: of calendars, and of links in mails.
_OPENING = re.compile(r"(/(?:calendar|mail|off|one-click)/)[^/\s]{8,}(?=/)")
_OWN = frozenset(FIELDS)
_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class OneLine(logging.Formatter):
    """Spells line breaks and control signs of a message; a traceback below it keeps its lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line, with what it belongs to at its end."""
        said = " ".join(f"{name}={value}" for name, value in _belongs(record).items())
        line = super().formatMessage(record) + (f" [{said}]" if said else "")
        return _cleaned(line).translate(_SPELLED)

    def formatException(self, ei: _Raised) -> str:
        """Return the traceback."""
        return _cleaned(super().formatException(ei))


class JsonLine(BaseJsonFormatter):
    """One JSON object a record; a traceback is a field of it."""

    def __init__(self) -> None:
        super().__init__(
            ["levelname", "name", "message", "process"],
            rename_fields={
                "levelname": "level",
                "name": "logger",
                "exc_info": "traceback",
                "stack_info": "stack",
            },
        )

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """Add the instant, and of the record's own fields those of `FIELDS`."""
        at = datetime.fromtimestamp(record.created, tz=UTC)
        log_data["timestamp"] = at.isoformat(timespec="milliseconds")
        plain = logging.makeLogRecord({})
        plain.__dict__ = {
            name: value
            for name, value in record.__dict__.items()
            if name in plain.__dict__ or name in ("message", "stack_info", "exc_text")
        }
        super().add_fields(log_data, plain, message_dict)
        log_data.update(_belongs(record))

    def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
        """Return ASCII alone: what ends a line somewhere is spelled, half of a pair too."""
        for name in ("message", "traceback", "stack"):
            if name in log_data:
                log_data[name] = _cleaned(str(log_data[name]))
        return json.dumps(log_data, ensure_ascii=True, default=str)


def _cleaned(text: str) -> str:
    return _OPENING.sub(r"\g<1>***", without_secrets(text, ()))


def readable(line: str) -> str:
    """Return a line of `JsonLine` as people read it, with its traceback; any other one as it is."""
    if not line.startswith('{"'):
        return line
    try:
        said = json.loads(line)
    except ValueError:
        return line
    if not isinstance(said, dict) or not {"timestamp", "message"} <= said.keys():
        return line
    told = f"{said['timestamp']} {said['message']}"
    return f"{told}\n{said['traceback']}" if said.get("traceback") else told


def _belongs(record: logging.LogRecord) -> dict[str, Any]:
    """Return what the filter noted, and what the call itself gave of `FIELDS`."""
    noted: dict[str, Any] = getattr(record, "lakewarden", {})
    given = {name: value for name, value in record.__dict__.items() if name in _OWN}
    return {**noted, **{name: value for name, value in given.items() if _is_plain(value)}}


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)
