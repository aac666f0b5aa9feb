"""Says in plain words why YARN has not started an application that it accepted."""

import re

_REASONS = (
    (
        re.compile(r"Queue's AM resource limit exceeded"),
        "the queue's share for drivers (maximum-am-resource-percent) is in use",
    ),
    (
        re.compile(r"User's AM resource limit exceeded"),
        "the share for drivers that one user has in the queue is in use",
    ),
    (
        re.compile(r"Max(?:imum)? parallel (?:app|application)s?", re.IGNORECASE),
        "as many applications as the queue or the user may have run already",
    ),
    (
        re.compile(r"not satisf\w* .*capacity|exceeds? .*(?:limit|capacity)|waiting for resources"),
        "the queue has no room for its driver yet",
    ),
)
_STAMP = re.compile(r"^\[[^\]]*\]\s*")
_LONGEST = 200


def reason_of(diagnostics: str) -> str:
    """Return why an application waits; YARN's own first words where they are not known."""
    for pattern, words in _REASONS:
        if pattern.search(diagnostics):
            return words
    own = _STAMP.sub("", diagnostics.strip()).partition("\n")[0].partition(" Details :")[0]
    return own[:_LONGEST].rstrip(". ") or "YARN has not said why"
