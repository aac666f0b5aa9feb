"""Finds texts that Spark reads as the present moment wherever a date or a time is meant.

Rows that were chosen or computed by one of them cannot be followed by changes: tomorrow it means
something else.
"""

import re

from sqlglot import exp

_PRESENT = re.compile(r"\s*(now|today|tomorrow|yesterday)(?![a-z])[ \t]*[\w/+:-]*\s*\Z", re.I)
"""One of Spark's words, and a time zone after it."""
_TEXTS = (exp.Literal, exp.RawString, exp.National)


def present_text(tree: exp.Expr) -> str:
    """Return a text of a statement that may mean the present moment; empty: there is none.

    Whether it is compared with a date is not known without types, so only patterns are passed.
    """
    for node in tree.find_all(*_TEXTS):
        is_pattern = isinstance(node.parent, exp.Like | exp.ILike | exp.RegexpLike)
        if not is_pattern and (not isinstance(node, exp.Literal) or node.is_string):
            text = str(node.this)
            if _PRESENT.match(text):
                return text
    return ""
