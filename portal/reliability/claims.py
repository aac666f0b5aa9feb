"""Claims rows that several processes could take: one conditional UPDATE, and its count decides."""

from typing import Any, Protocol


class Rows(Protocol):
    """Rows by the state in which they may be claimed; a Django queryset is one."""

    def update(self, **changes: Any) -> int:
        """Change them all at once and return how many there were."""


def claim(rows: Rows, **changes: Any) -> bool:
    """Claim what `rows` finds still free; False where another process got there first.

    `rows` names the state (and epoch) that the caller saw, so a claim is never taken over unseen.
    """
    return rows.update(**changes) > 0
