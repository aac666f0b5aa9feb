"""Fits text from others on one line and into a column of limited length, and splits secrets.

Names of owners, tables and partitions may hold line breaks: in a mail's plain text or a subject
they would begin lines that nobody of ours wrote. The metastore's columns may be longer than ours.
"""

import hashlib
import re

_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def one_line(text: str) -> str:
    """Put a space in place of line breaks and other control signs."""
    return _BREAKS.sub(" ", text)


def fitted(text: str, most: int) -> str:
    """Cut a text that is longer than its column; a mark at its end tells two such apart."""
    if len(text) <= most:
        return text
    return f"{text[: most - 9]}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def secret_lines(text: str) -> list[str]:
    """Return the secrets of a file's text, one a line; spaces around a secret are no part."""
    return [line.strip() for line in text.splitlines() if line.strip()]
