"""How does the server's log stay one line a message, whatever a name or an address holds?"""

import logging

_SPELLED = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_SPELLED |= {code: f"\\u{code:04x}" for code in (0x2028, 0x2029)}


class OneLine(logging.Formatter):
    """Spells line breaks and control signs of a message; a traceback below it keeps its lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Give the line."""
        return super().formatMessage(record).translate(_SPELLED)
