"""The rule for texts that people give with an act: a reason is said, and every sign can be shown.

Pages, the API and commands all reach the same services, and the services apply this rule. Control
characters are refused: a database may not take them (NUL), and a terminal or a mail may obey them.
"""

import unicodedata

from portal.lake.errors import RuleViolation

MOST_SIGNS = 1000
"""Of a reason that is given with an act on a cluster or a pipeline."""
# Browsers send a line break as CR LF.
_PLAIN = frozenset("\n\r\t")
# Cc: control characters. Cs: half of a surrogate pair, which no encoding can write.
_UNSHOWN = frozenset({"Cc", "Cs"})


def check_text(text: str) -> None:
    """Refuse a text with a control character other than a line break or a tab.

    Raises:
        RuleViolation: `text.control`.
    """
    for sign in text:
        if _is_unshown(sign):
            raise RuleViolation(
                "text.control",
                f"The reason holds a control character (U+{ord(sign):04X}) that cannot be shown. "
                "Take it out; line breaks and tabs may stay.",
                field="reason",
            )


def check_reason(reason: str, code: str, message: str) -> None:
    """Refuse an act whose reason is missing or cannot be shown.

    Raises:
        RuleViolation: `code` with `message` when nothing is said; `text.control`.
    """
    if not reason.strip():
        raise RuleViolation(code, message, field="reason")
    check_text(reason)


def given_reason(reason: str, code: str, **fields: str) -> str:
    """Return a reason without spaces around it.

    Raises:
        RuleViolation: `code` where nothing is said, or more than is kept; `text.control`.
    """
    said = reason.strip()
    if not 0 < len(said) <= MOST_SIGNS:
        raise RuleViolation(code, f"Enter a reason, in 1-{MOST_SIGNS} signs.", **fields)
    check_text(said)
    return said


def shown_text(text: str) -> str:
    """Return the text with U+FFFD for each sign that `check_text` refuses."""
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_unshown(sign) else sign for sign in text)


def _is_unshown(sign: str) -> bool:
    return sign not in _PLAIN and unicodedata.category(sign) in _UNSHOWN
