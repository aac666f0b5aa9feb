"""Keeps each message of the server's log on one line, whatever a name or address contains."""

import logging

_SPELLED = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_SPELLED |= {code: f"\\u{code:04x}" for code in (0x2028, 0x2029)}


class OneLine(logging.Formatter):
    """Spells line breaks and control signs of a message; a traceback below it keeps its lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return super().formatMessage(record).translate(_SPELLED)
